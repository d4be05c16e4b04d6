// Grouped bars as SVG text, the same bytes for the same figures. Mid-tones on no background, so it reads on light and dark pages alike.
// Knows nothing of benchmarks: groups, series, numbers.

export interface Chart {
  readonly title: string;
  /** What the numbers are, e.g. `ms`; shown at the axis. */
  readonly unit: string;
  readonly groups: readonly string[];
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  readonly colour: string;
  /** One for each group; `undefined` is drawn as a dash, for what could not be measured. */
  readonly values: readonly (number | undefined)[];
}

const width = 960;
const height = 400;
const left = 64;
const right = 16;
const bottom = 44;
const ink = '#737b85';
const faint = 'stroke="#737b85" stroke-opacity="0.25"';
/** Wide enough for any character of the sans-serif fonts that stand in for one another, in shares of the size. */
const widest = 0.62;
const legendRow = 20;

/** Pixels a text takes at most. */
export function textWidth(text: string, size: number): number {
  return text.length * size * widest;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** At most five characters: 0.37, 14.2, 146, 12.2k. */
export function short(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(value >= 99_950 ? 0 : 1)}k`;
  if (value >= 99.95) return value.toFixed(0);
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

/** Marks are round numbers: no more digits than they have. */
function markText(mark: number): string {
  return mark >= 10_000 ? `${Number((mark / 1000).toPrecision(3))}k` : String(Number(mark.toPrecision(3)));
}

function text(x: number, y: number, size: number, anchor: 'start' | 'middle' | 'end', content: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" text-anchor="${anchor}">${escape(content)}</text>`;
}

/** Share of the axis, 0 to 1, and the marks on it. Logarithmic as soon as the largest value is 20 times the smallest. */
interface Scale {
  readonly share: (value: number) => number;
  readonly marks: readonly number[];
  readonly logarithmic: boolean;
}

function scaleOf(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return { share: () => 0, marks: [], logarithmic: false };
  const largest = Math.max(...positive);
  const smallest = Math.min(...positive);
  if (largest / smallest >= 20) {
    const from = Math.floor(Math.log10(smallest));
    const to = Math.ceil(Math.log10(largest) + 0.05);
    const share = (value: number): number => (value <= 0 ? 0 : Math.max(0, (Math.log10(value) - from) / (to - from)));
    return { share, marks: Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at)), logarithmic: true };
  }
  const magnitude = 10 ** Math.floor(Math.log10(largest));
  const step = [0.2, 0.5, 1, 2].map((each) => each * magnitude).find((each) => largest / each <= 5) ?? magnitude * 2;
  const top = Math.ceil((largest * 1.05) / step) * step;
  const marks = Array.from({ length: Math.round(top / step) + 1 }, (_, at) => at * step);
  return { share: (value) => Math.max(0, value / top), marks, logarithmic: false };
}

/** Legend entries from left to right, broken into rows; returns their SVG and the height they take. */
function legend(series: readonly Series[], top: number): { svg: string[]; used: number } {
  const svg: string[] = [];
  let x = left;
  let y = top;
  for (const { name, colour } of series) {
    const needed = 18 + textWidth(name, 12) + 14;
    if (x + needed > width - right && x > left) {
      x = left;
      y += legendRow;
    }
    svg.push(`<rect x="${x.toFixed(1)}" y="${(y - 10).toFixed(1)}" width="12" height="12" rx="2" fill="${colour}"/>`);
    svg.push(text(x + 18, y, 12, 'start', name));
    x += needed;
  }
  return { svg, used: y - top + legendRow };
}

/** All values in words, for those who do not see the bars. */
function describe({ unit, groups, series }: Chart): string {
  return groups
    .map((group, at) => {
      const values = series.map(({ name, values }) => {
        const value = values[at];
        return `${name} ${value === undefined ? 'not measured' : `${short(value)} ${unit}`}`;
      });
      return `${group}: ${values.join(', ')}.`;
    })
    .join(' ');
}

/** Throws when a series has not one value for each group. */
export function drawChart(chart: Chart): string {
  const { title, unit, groups, series } = chart;
  const uneven = series.find(({ values }) => values.length !== groups.length);
  if (uneven !== undefined) throw new Error(`${uneven.name} has ${uneven.values.length} values for ${groups.length} groups`);

  const keys = legend(series, 52);
  const top = 52 + keys.used + 8;
  const floor = height - bottom;
  const scale = scaleOf(series.flatMap(({ values }) => values.filter((value) => value !== undefined)));
  const yOf = (value: number): number => floor - scale.share(value) * (floor - top);

  const marks = scale.marks.flatMap((mark) => [
    `<line x1="${left}" x2="${width - right}" y1="${yOf(mark).toFixed(1)}" y2="${yOf(mark).toFixed(1)}" ${faint}/>`,
    text(left - 8, yOf(mark) + 4, 11, 'end', markText(mark)),
  ]);
  const groupWidth = (width - left - right) / groups.length;
  const barWidth = Math.min(34, (groupWidth * 0.94) / series.length);
  const bars = groups.flatMap((group, at) => {
    const start = left + at * groupWidth + (groupWidth - barWidth * series.length) / 2;
    const drawn = series.flatMap(({ colour, values }, which) => {
      const x = start + which * barWidth;
      const value = values[at];
      if (value === undefined) return [text(x + barWidth / 2, floor - 6, 11, 'middle', '–')];
      const y = yOf(value);
      return [
        `<rect x="${(x + 1).toFixed(1)}" y="${y.toFixed(1)}" width="${(barWidth - 2).toFixed(1)}" height="${(floor - y).toFixed(1)}" fill="${colour}"/>`,
        text(x + barWidth / 2, y - 4, 10, 'middle', short(value)),
      ];
    });
    return [...drawn, text(left + (at + 0.5) * groupWidth, floor + 20, 12, 'middle', group)];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" fill="${ink}">`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="desc">${escape(describe(chart))}</desc>`,
    text(left, 24, 15, 'start', `${title}, ${unit}${scale.logarithmic ? ' (logarithmic)' : ''}`),
    ...keys.svg,
    ...marks,
    ...bars,
    '</svg>',
    '',
  ].join('\n');
}
