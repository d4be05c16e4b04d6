// The page of the human door, and the frame of every other: what this is and how a person decides. No script, no data, nothing to leak.

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
code{font:14px ui-monospace,monospace;background:#f0f0f0;padding:.1rem .3rem;border-radius:3px}
li{margin:.5rem 0}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}code{background:#2a2a2a}}`;

/** A page of this door; `title` and `body` are HTML, with everything of strangers in it escaped. */
export function pageOf(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

export const humanPage = pageOf(
  'Sallyport: the human door',
  `<h1>Sallyport</h1>
<p>This is the human door of the gateway between your AI agents and everything they act on. The agents stand at another door.</p>
<p>When an agent needs a person, decide in a terminal of this machine:</p>
<ol>
<li><code>sallyport approvals list</code> shows what is waiting.</li>
<li><code>sallyport approvals show ID</code> shows exactly what would happen.</li>
<li><code>sallyport approve ID</code> or <code>sallyport deny ID --reason TEXT</code> decides, signed with your passphrase.</li>
</ol>
<p>No page will ever ask for that passphrase.</p>`,
);

/** What the Content-Security-Policy admits as the only style of every page; a test computes it from one. */
export const stylePin = 'sha256-mNAX8C9itUspJ3a+IOsrdNooakUIFQOlc/0+c2yfPSo=';
