// The command line itself was wrong: nothing was asked of anybody. Exit code 2.
import { AppError } from '../../kernel/errors.ts';

export const misuseCode = 'cli.misuse';

/** `usage` is the command's usage line, shown as the hint unless there is a better one. */
export function misuse(message: string, hint: string): AppError {
  return new AppError('invalid', misuseCode, message, { hint });
}
