// Plain tar archives (POSIX ustar): headers and padding for regular files. Knows nothing of where the bytes go.

const blockBytes = 512;
/** What ends an archive. */
export const tarEnd = new Uint8Array(2 * blockBytes);

/** `name` is ASCII of at most 100 characters; throws RangeError otherwise. The time is in milliseconds since the Unix epoch. */
export function tarHeader(name: string, size: number, modifiedAt: number): Uint8Array {
  if (!/^[\x20-\x7e]{1,100}$/.test(name) || size >= 8 ** 11) throw new RangeError(`'${name}' does not fit a plain tar header`);
  const header = new Uint8Array(blockBytes);
  const put = (offset: number, text: string): void => {
    for (let at = 0; at < text.length; at += 1) header[offset + at] = text.charCodeAt(at);
  };
  const octal = (value: number, width: number): string => Math.floor(value).toString(8).padStart(width, '0');
  put(0, name);
  put(100, `${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(size, 11)}\0${octal(modifiedAt / 1000, 11)}\0`);
  put(148, ' '.repeat(8));
  put(156, '0');
  put(257, 'ustar\u000000');
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(148, `${octal(sum, 6)}\0 `);
  return header;
}

/** What follows `size` bytes of content up to the next block. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((blockBytes - (size % blockBytes)) % blockBytes);
}
