// Why a secret is not placed, in words and codes. Knows no value and no file.
import { AppError } from '../../kernel/errors.ts';
import type { PlacementErrorCode } from './model.ts';

export function refusal(kind: AppError['kind'], code: PlacementErrorCode, message: string, hint?: string): AppError {
  return new AppError(kind, code, message, hint === undefined ? {} : { hint });
}

export function badPlace(path: string, why: string): AppError {
  const hint = "Give an absolute path without '.', '..', doubled slashes or control characters.";
  return refusal('invalid', 'placements.bad_place', `'${path.slice(0, 200)}' is no place for a secret: it ${why}.`, hint);
}

export function notAllowed(path: string): AppError {
  const folder = path.slice(0, Math.max(1, path.lastIndexOf('/')));
  return refusal(
    'denied',
    'placements.not_allowed',
    `'${path}' is not among the places the operator allowed.`,
    `Ask the human to run: sallyport inject allow ${folder}/**`,
  );
}

export function badTemplate(why: string): AppError {
  return refusal('invalid', 'placements.bad_template', `The template ${why}.`, 'Write {{secret}} where the value goes.');
}

export function unrecorded(out: string, why: string): AppError {
  const hint = 'Place it anew with: sallyport inject --ref REF --out FILE';
  return refusal('conflict', 'placements.unrecorded', `'${out}' cannot be refreshed: ${why}.`, hint);
}
