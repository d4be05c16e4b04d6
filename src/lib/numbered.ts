// Things under numbers that only ever go up, each for a short while. A Map would do, but for one thing: the tables that it outgrows point to
// those that come after them. Once such a table is old, all that stands in the later ones outlives it until the next full collection, and
// with it what was answered long ago. Here a place is empty when its number is gone.

export interface Numbered<T> {
  readonly size: number;
  get(number: number): T | undefined;
  /** Whether `number` could be put without moving others. */
  hasPlace(number: number): boolean;
  /** A number that is not there yet. */
  put(number: number, value: T): void;
  take(number: number): T | undefined;
  /** What is there now, in no particular order; it may be taken while it is gone through. */
  all(): (readonly [number: number, value: T])[];
}

const firstPlaces = 64;

export function createNumbered<T extends object>(): Numbered<T> {
  // As many places as a power of two, so that the lower bits of a number are its place; never more than half of them taken.
  let numbers: number[] = [];
  let values: (T | undefined)[] = [];
  let size = 0;
  empty(firstPlaces);

  function empty(places: number): void {
    numbers = Array.from({ length: places }, () => 0);
    values = Array.from({ length: places }, () => undefined);
  }

  function placeOf(number: number): number {
    return number & (values.length - 1);
  }

  function grow(): void {
    const before = all();
    empty(2 * values.length);
    for (const [number, value] of before) {
      numbers[placeOf(number)] = number;
      values[placeOf(number)] = value;
    }
  }

  function get(number: number): T | undefined {
    const at = placeOf(number);
    return numbers[at] === number ? values[at] : undefined;
  }

  function all(): (readonly [number: number, value: T])[] {
    const found: (readonly [number, T])[] = [];
    for (const [at, value] of values.entries()) if (value !== undefined) found.push([numbers[at] as number, value]);
    return found;
  }

  return {
    get size() {
      return size;
    },
    get,
    hasPlace: (number) => values[placeOf(number)] === undefined,
    put(number, value) {
      // Two that share a place in this many differ in one more bit of their numbers.
      while (2 * (size + 1) > values.length || values[placeOf(number)] !== undefined) grow();
      numbers[placeOf(number)] = number;
      values[placeOf(number)] = value;
      size += 1;
    },
    take(number) {
      const value = get(number);
      if (value === undefined) return undefined;
      values[placeOf(number)] = undefined;
      size -= 1;
      return value;
    },
    all,
  };
}
