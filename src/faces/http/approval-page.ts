// The page a client is led to when its call waits for a person: who wants what, until when, and the command that decides. Shows no argument,
// because whoever reaches the port may read it, and decides nothing.
import type { Approval } from '../../features/approvals/model.ts';
import { printable } from '../../lib/printable.ts';
import { pageOf } from './human-page.ts';

/** What of an approval the page knows. */
export type ApprovalNotice = Pick<Approval, 'id' | 'agent' | 'capability' | 'origin' | 'requestedAt' | 'expiresAt' | 'state'>;

const wishes: Readonly<Record<Approval['origin'], string>> = {
  call: 'run this once, with exactly the arguments it gave',
  request: 'use this for a time',
  registration: 'register this upstream',
};

const ends: Readonly<Record<Exclude<Approval['state'], 'pending'>, string>> = {
  approved: 'A person approved it. There is nothing left to decide; you can close this page.',
  denied: 'A person denied it. There is nothing left to decide; you can close this page.',
  expired: 'Nobody decided in time. If it is still wanted, the agent has to ask again.',
};

export function approvalPage(approval: ApprovalNotice): string {
  const { id, agent, capability, origin, requestedAt, expiresAt, state } = approval;
  const wants = wishes[origin];
  const decide =
    state === 'pending'
      ? `<p>Decide in a terminal of this machine, until <time>${instant(expiresAt)}</time>:</p>
<ol>
<li><code>sallyport approvals show ${escaped(id)}</code> shows everything, arguments included.</li>
<li><code>scopegate approve ${escaped(id)}</code> approves it, signed with your passphrase.</li>
<li><code>scopegate deny ${escaped(id)} --reason TEXT</code> denies it, and tells the agent why.</li>
</ol>
<p>This page decides nothing, and no page will ever ask for that passphrase. What you answer in the agent’s client decides nothing either.</p>`
      : `<p>${ends[state]}</p>`;
  return pageOf(
    'Sallyport: an approval',
    `<h1>${state === 'pending' ? 'An agent waits for you' : 'An approval'}</h1>
<p>The agent <code>${escaped(agent)}</code> asked at <time>${instant(requestedAt)}</time> to ${wants}:</p>
<p><code>${escaped(capability)}</code></p>
${decide}`,
  );
}

export const noApprovalPage = pageOf(
  'Sallyport: no such approval',
  `<h1>There is nothing here</h1>
<p>No approval has this address. <code>sallyport approvals list</code> shows what is waiting.</p>`,
);

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return printable(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
