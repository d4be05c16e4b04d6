// Cuts a byte stream into lines without decoding what is not yet whole; for floor and load client alike.

/** Feed chunks in; `onLine` gets each line as bytes, newline excluded. A 1 MB line costs one copy. */
export function createLineCutter(onLine: (line: Buffer) => void): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, at);
      onLine(held.length === 0 ? piece : Buffer.concat([...held, piece]));
      held = [];
      from = at + 1;
    }
    if (from < chunk.length) held.push(chunk.subarray(from));
  };
}
