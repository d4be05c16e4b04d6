// A person at a terminal: prompts on standard error, answers from standard input, passphrases without echo. Standard output stays
// free for output.
import { AppError } from '../kernel/errors.ts';

export interface Terminal {
  ask(prompt: string): Promise<string>;
  askHidden(prompt: string): Promise<string>;
}

type Input = NodeJS.ReadStream;
type Output = { write(text: string): unknown; readonly isTTY?: boolean };

const backspace = new Set(['\u007f', '\b']);
const ctrlC = '\u0003';
const ctrlD = '\u0004';
const ctrlU = '\u0015';
const maxAnswer = 4096;

/** `undefined` unless both ends are a terminal: nobody is there to answer. */
export function openTerminal(input: Input = process.stdin, output: Output = process.stderr): Terminal | undefined {
  if (!input.isTTY || output.isTTY !== true) return undefined;
  return {
    ask: (prompt) => readLine(input, output, prompt, true),
    askHidden: (prompt) => readLine(input, output, prompt, false),
  };
}

/**
 * Raw mode in both cases, so that nothing is echoed but what is written here. Characters typed after the line stay for the next
 * question. Rejects with `cli.interrupted` on Ctrl-C, or on Ctrl-D and end of input with nothing typed.
 */
function readLine(input: Input, output: Output, prompt: string, echo: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const wasRaw = input.isRaw;
    const decoder = new TextDecoder();
    output.write(prompt);
    input.setRawMode(true);
    input.on('data', read);
    input.on('end', ended);
    input.resume();

    function finish(settle: () => void): void {
      input.off('data', read);
      input.off('end', ended);
      input.pause();
      input.setRawMode(wasRaw);
      output.write('\n');
      settle();
    }
    function ended(): void {
      finish(() => reject(new AppError('denied', 'cli.interrupted', 'interrupted; nothing was done')));
    }
    function read(chunk: Uint8Array): void {
      // An arrow or function key arrives as one escape sequence; it is no part of an answer.
      // oxlint-disable-next-line no-control-regex
      const text = decoder.decode(chunk, { stream: true }).replaceAll(/\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])/g, '');
      const characters = Array.from(text);
      for (let at = 0; at < characters.length; at += 1) {
        const character = characters[at] ?? '';
        if (character === '\r' || character === '\n') {
          finish(() => resolve(typed.join('')));
          const left = characters.slice(at + 1).join('');
          if (left !== '') input.unshift(Buffer.from(left));
          return;
        }
        if (character === ctrlC || (character === ctrlD && typed.length === 0)) return ended();
        take(character);
      }
    }
    function take(character: string): void {
      if (backspace.has(character)) {
        if (typed.pop() !== undefined && echo) output.write('\b \b');
      } else if (character === ctrlU) {
        if (echo) output.write('\b \b'.repeat(typed.length));
        typed = [];
      } else if (character >= ' ' && typed.length < maxAnswer) {
        typed.push(character);
        if (echo) output.write(character);
      }
    }
  });
}
