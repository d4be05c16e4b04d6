// The `upstreams:` list of sallyport.yaml as text in and text out; comments and everything else in the file stay. Reads no file itself.
import { parseDocument, isSeq, isMap, type Document, type Node } from 'yaml';
import { usualIdleStopMs, usualMaxSessions, type UpstreamSpec } from './model.ts';
import { badSettings } from './refusals.ts';
import { parseSpec } from './spec.ts';

export type SettingsEntry =
  | { readonly name: string; readonly spec: UpstreamSpec }
  /** Not understood; the others are not affected. `name` is what it calls itself, or its place. */
  | { readonly name: string; readonly problem: string };

/** Throws `fleet.bad_settings` when the text as a whole is no such file; problems of one entry stay with the entry. */
export function readUpstreams(text: string): readonly SettingsEntry[] {
  const raw = listOf(parse(text));
  const entries = raw.map((value, at): SettingsEntry => {
    const place = `upstreams[${at}]`;
    const parsed = parseSpec(value, place);
    return parsed.ok ? { name: parsed.spec.name, spec: parsed.spec } : { name: nameOf(value) ?? place, problem: parsed.problem };
  });
  const seen = new Set<string>();
  return entries.map((entry) => {
    if (!seen.has(entry.name)) {
      seen.add(entry.name);
      return entry;
    }
    return { name: `${entry.name} (again)`, problem: `The name '${entry.name}' is used twice; the first entry counts.` };
  });
}

/** The text with one more entry at the end of the list. */
export function withUpstream(text: string, spec: UpstreamSpec): string {
  const document = parse(text);
  const entry = written(spec);
  const list = document.get('upstreams');
  if (isSeq(list)) {
    list.flow = false;
    list.add(document.createNode(entry));
  } else document.set('upstreams', document.createNode([entry]));
  return document.toString({ lineWidth: 0 });
}

/** The text with this entry in the place of the one of its name, whose comment stays; at the end of the list when there is none. */
export function withReplaced(text: string, spec: UpstreamSpec): string {
  const document = parse(text);
  const list = document.get('upstreams');
  const at = isSeq(list) ? list.items.findIndex((item) => isMap(item) && item.get('name') === spec.name) : -1;
  if (!isSeq(list) || at < 0) return withUpstream(text, spec);
  const { commentBefore, spaceBefore } = list.items[at] as Node;
  const node = document.createNode(written(spec));
  if (commentBefore != null) node.commentBefore = commentBefore;
  if (spaceBefore === true) node.spaceBefore = true;
  list.flow = false;
  list.items[at] = node;
  return document.toString({ lineWidth: 0 });
}

/** The entry as the file has it: without what is so anyway. */
function written(spec: UpstreamSpec): object {
  return {
    name: spec.name,
    transport: writtenTransport(spec.transport),
    ...(spec.auth.type !== 'none' && { auth: spec.auth }),
    ...(Object.keys(spec.env).length > 0 && { env: spec.env }),
    ...(spec.envPassthrough.length > 0 && { envPassthrough: spec.envPassthrough }),
    ...(spec.exposeTools.length > 0 && { exposeTools: spec.exposeTools }),
    ...(spec.sharing !== 'shared' && { sharing: spec.sharing }),
    ...(spec.maxSessions !== usualMaxSessions && { maxSessions: spec.maxSessions }),
    ...(spec.idleStopMs !== usualIdleStopMs && { idleStopMs: spec.idleStopMs }),
    ...(spec.roots.length > 0 && { roots: spec.roots }),
  };
}

function writtenTransport(transport: UpstreamSpec['transport']): object {
  if (transport.kind === 'stdio') return { ...transport };
  const { kind, url, headers, allow_insecure, addresses } = transport;
  return {
    kind,
    url,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(allow_insecure && { allow_insecure }),
    ...(addresses !== 'any' && { addresses }),
  };
}

/** The text without the entry of that name; unchanged when there is none. */
export function withoutUpstream(text: string, name: string): string {
  const document = parse(text);
  const list = document.get('upstreams');
  if (!isSeq(list)) return text;
  const kept = list.items.filter((item) => !(isMap(item) && item.get('name') === name));
  if (kept.length === list.items.length) return text;
  list.items = kept;
  return document.toString({ lineWidth: 0 });
}

function parse(text: string): Document.Parsed {
  const document = parseDocument(text, { strict: true, uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) {
    throw badSettings(
      `sallyport.yaml is no valid YAML: ${error.message.split('\n')[0] ?? ''}`,
      'Mend the file; the upstreams that run go on as they are.',
    );
  }
  if (document.contents !== null && !isMap(document.contents)) {
    throw badSettings('sallyport.yaml is not a map of settings.', "Begin a line with 'upstreams:'.");
  }
  return document;
}

function listOf(document: Document.Parsed): readonly unknown[] {
  const plain = document.toJS({ maxAliasCount: 100 }) as { upstreams?: unknown } | null;
  const list = plain?.upstreams ?? [];
  if (!Array.isArray(list))
    throw badSettings("'upstreams' in sallyport.yaml is not a list.", "Write each upstream as an item that begins with '- name:'.");
  return list as readonly unknown[];
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name } = value as { name?: unknown };
  return typeof name === 'string' && name !== '' ? name.slice(0, 64) : undefined;
}
