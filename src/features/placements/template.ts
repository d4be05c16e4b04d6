// A template and a value become the content of a file, as bytes. The value is never searched for anything and never becomes a string.
import { mostPlaceholders, mostTemplateBytes, placeholder } from './model.ts';
import { badTemplate } from './refusals.ts';

const encoder = new TextEncoder();

/** Throws `placements.bad_template` where there is no place for the value, too many, or too much text. */
export function checkedTemplate(text: string): string {
  if (encoder.encode(text).length > mostTemplateBytes) throw badTemplate(`is larger than ${mostTemplateBytes} bytes`);
  if (!text.isWellFormed()) throw badTemplate('is not valid Unicode');
  const places = text.split(placeholder).length - 1;
  if (places === 0) throw badTemplate(`has no ${placeholder} in it`);
  if (places > mostPlaceholders) throw badTemplate(`has more than ${mostPlaceholders} times ${placeholder} in it`);
  return text;
}

/** A placeholder within the value stays what it is: the parts are cut before the value comes. */
export function render(template: string, value: Uint8Array): Uint8Array {
  const parts = template.split(placeholder).map((part) => encoder.encode(part));
  const content = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0) + value.length * (parts.length - 1));
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (index > 0) {
      content.set(value, at);
      at += value.length;
    }
    content.set(part, at);
    at += part.length;
  }
  return content;
}
