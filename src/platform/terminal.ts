// A person at a terminal: prompts on standard error, answers from standard input, passphrases without echo. Standard output stays
// free for output.
import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { AppError } from '../kernel/errors.ts';

export interface Terminal {
  /** One line as typed. Rejects with `cli.interrupted` on Ctrl-C, or on Ctrl-D and end of input with nothing typed. */
  ask(prompt: string): Promise<string>;
  /** The same without echo. */
  askHidden(prompt: string): Promise<string>;
  /** Gives the terminal its usual manners back. */
  release(): void;
}

interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

interface Question {
  readonly echo: boolean;
  readonly typed: string[];
  answer(line: string): void;
  giveUp(): void;
}

const backspace = new Set(['\u007f', '\b']);
const ctrlC = '\u0003';
const ctrlD = '\u0004';
const ctrlU = '\u0015';
const maxAnswer = 4096;
// An arrow or function key arrives as one escape sequence; it is no part of an answer.
// oxlint-disable-next-line no-control-regex
const keySequence = /\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])/g;

/**
 * `undefined` unless both ends are a terminal: nobody is there to answer. From the first question to `release` the terminal echoes
 * nothing by itself, between questions too, so that a passphrase typed ahead of its prompt never shows.
 */
export function openTerminal(input: NodeJS.ReadStream = process.stdin, output: Output = process.stderr): Terminal | undefined {
  if (!input.isTTY || output.isTTY !== true) return undefined;
  let held = false;
  let ended = false;
  let decoder = new TextDecoder();
  let ahead = '';
  let question: Question | undefined;

  function hold(): void {
    input.ref();
    if (held) return;
    held = true;
    input.setRawMode(true);
    input.on('data', read);
    input.on('end', end);
    input.resume();
  }

  function release(): void {
    if (!held) return;
    held = false;
    input.off('data', read);
    input.off('end', end);
    input.pause();
    input.setRawMode(false);
    decoder = new TextDecoder();
    ahead = '';
  }

  function read(chunk: Uint8Array): void {
    ahead += decoder.decode(chunk, { stream: true }).replaceAll(keySequence, '');
    if (question !== undefined) feed(question);
    // Raw mode makes Ctrl-C a character; with no question to end, it means what it always means.
    else if (ahead.includes(ctrlC)) process.kill(process.pid, 'SIGINT');
  }

  function end(): void {
    ended = true;
    question?.giveUp();
  }

  /** What follows the end of the line waits for the next question. */
  function feed(asked: Question): void {
    const characters = Array.from(ahead);
    for (const [at, character] of characters.entries()) {
      ahead = characters.slice(at + 1).join('');
      if (character === '\r' || character === '\n') return asked.answer(asked.typed.join(''));
      if (character === ctrlC || (character === ctrlD && asked.typed.length === 0)) return asked.giveUp();
      take(asked, character);
    }
  }

  function take({ typed, echo }: Question, character: string): void {
    if (backspace.has(character)) {
      if (typed.pop() !== undefined && echo) output.write('\b \b');
    } else if (character === ctrlU) {
      if (echo) output.write('\b \b'.repeat(typed.length));
      typed.length = 0;
    } else if (character >= ' ' && typed.length < maxAnswer) {
      typed.push(character);
      if (echo) output.write(character);
    }
  }

  function put(prompt: string, echo: boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        question = undefined;
        input.unref();
        output.write('\n');
        settle();
      };
      question = {
        echo,
        typed: [],
        answer: (line) => finish(() => resolve(line)),
        giveUp: () => finish(() => reject(new AppError('denied', 'cli.interrupted', 'interrupted; nothing was done'))),
      };
      // Before the prompt is seen the echo must be gone.
      hold();
      output.write(prompt);
      if (ended) question.giveUp();
      else feed(question);
    });
  }

  return { ask: (prompt) => put(prompt, true), askHidden: (prompt) => put(prompt, false), release };
}

/**
 * The person of this session where standard input is a pipe, as in `sallyport secret add REF < FILE`; `undefined` where the program has
 * no controlling terminal, or nobody would see its prompts.
 */
export function openControllingTerminal(output: Output = process.stderr): Terminal | undefined {
  if (output.isTTY !== true) return undefined;
  try {
    return openTerminal(new ReadStream(openSync('/dev/tty', 'r')), output);
  } catch {
    return undefined;
  }
}
