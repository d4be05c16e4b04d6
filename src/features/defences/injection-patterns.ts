// What texts look like that try to give their reader orders. Data; a heuristic: an order in other words passes.

export interface InjectionPattern {
  /** For the record and for the person who is asked. */
  readonly name: string;
  /** Every repetition is bounded, and a word ends where a gap begins, so that the time is linear in the text. */
  readonly pattern: RegExp;
}

/** Between words: white space as it is or escaped in JSON, and marks around words. */
const gap = String.raw`(?:[\s*_"'\`>]|\\{1,4}[nrt"]){1,8}`;
/** Words one after the other; a space in a part is a gap too. */
const phrase = (...parts: readonly string[]): RegExp => new RegExp(parts.join(gap).replaceAll(' ', gap), 'i');
const upTo = (most: number, choice: string): string => `(?:(?:${choice})${gap}){0,${most}}`;
const things = '(?:credentials?|secrets?|passwords?|api keys?|access tokens?|private keys?|environment variables?|ssh keys?)';

export const injectionPatterns: readonly InjectionPattern[] = [
  {
    name: 'override_instructions',
    pattern: phrase(
      '(?:ignore|disregard|forget|override)',
      `${upTo(4, 'all|any|the|your|my|of|these|those|every')}(?:previous|prior|above|earlier|preceding|existing|original|other|system)`,
      `${upTo(2, 'system|safety|user|and|security')}(?:instructions?|prompts?|rules|messages?|guidelines|directives|context|orders)`,
    ),
  },
  {
    name: 'new_instructions',
    pattern: phrase(
      '(?:your|the)',
      '(?:new|real|actual|updated|only)',
      '(?:instructions?|task|objective|goal|orders) (?:are|is|will be):?',
    ),
  },
  { name: 'role_markup', pattern: /<\|(?:im_start|im_end|system|assistant|start_header_id)\|>|\[\/?INST\]|<<\/?SYS>>/i },
  {
    name: 'secrecy',
    pattern: phrase(
      '(?:not|never)',
      '(?:tell|inform|mention|reveal|alert|notify|warn)',
      `${upTo(4, 'this|it|that|to|any|of|about|the')}(?:user|human|operator|anyone|owner|developer)`,
    ),
  },
  {
    name: 'exfiltration',
    pattern: phrase(
      '(?:send|upload|forward|exfiltrate|leak|transmit|submit)',
      `${upTo(5, String.raw`[A-Za-z0-9~./-]{1,24},?`)}${things}`,
      `${upTo(5, String.raw`[A-Za-z0-9~./-]{1,24},?`)}(?:to|as|in)`,
    ),
  },
  {
    name: 'tool_coercion',
    pattern: phrase(
      'you',
      '(?:must|should|need to|have to)',
      `${upTo(2, 'now|first|immediately|always')}(?:call|use|run|invoke|execute)`,
      `${upTo(1, 'the|this|my')}[\\w.-]{1,64}`,
      '(?:tool|function)',
    ),
  },
];
