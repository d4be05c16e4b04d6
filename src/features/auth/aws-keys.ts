// The long-lived keys of AWS as people have them: the JSON that its tools print, or the lines of a credentials file. Shows none of it.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { asObject, objectIn, tokenText } from './mint-exchange.ts';
import type { AwsKeys } from './sigv4.ts';

/** The end of a sentence about the secret, where it holds no keys. */
export type AwsKeyProblem = { readonly problem: string };

export function awsKeysIn(text: string): AwsKeys | AwsKeyProblem {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return keysOf(iniFields(trimmed));
  const value = objectIn(trimmed);
  if (value === undefined) return { problem: 'begins like JSON and is none' };
  return keysOf(bareNames(asObject(value['Credentials']) ?? value));
}

function keysOf(fields: Readonly<Record<string, Json>>): AwsKeys | AwsKeyProblem {
  const accessKeyId = tokenText(fields['accesskeyid']);
  const secretAccessKey = tokenText(fields['secretaccesskey']);
  const given = fields['sessiontoken'];
  const sessionToken = tokenText(given);
  if (accessKeyId === undefined || !/^\w{16,128}$/.test(accessKeyId)) return { problem: 'holds no access key id' };
  if (secretAccessKey === undefined) return { problem: 'holds no secret access key' };
  if (given !== undefined && given !== '' && sessionToken === undefined) return { problem: 'holds a session token that is none' };
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

/** `AccessKeyId`, `accessKeyId` and `aws_access_key_id` are one name. */
const bareName = (name: string): string => name.toLowerCase().replaceAll('_', '').replace(/^aws/, '');

function bareNames(object: JsonObject): Record<string, Json> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [bareName(name), value]));
}

/** Of one profile: a second `[section]` ends the reading, since nothing says which is meant. */
function iniFields(text: string): Record<string, Json> {
  const fields: Record<string, Json> = {};
  for (const line of text.split(/\r?\n/)) {
    if (line.trim().startsWith('[') && Object.keys(fields).length > 0) break;
    const [, name, value] = /^\s*(?:export\s+)?(\w+)\s*=\s*"?([^"\s]*)"?\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields[bareName(name)] = value;
  }
  return fields;
}
