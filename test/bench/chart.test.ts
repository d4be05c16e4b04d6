// The charts: well-formed, the same every time, with every value on them and nothing outside the picture.
import { expect, test } from 'vitest';
import { drawChart, short, textWidth, type Chart } from '../../bench/chart.ts';
import { chartsOf, quotedCharts } from '../../bench/charts.ts';
import { figuresBlock, replaceFigures } from '../../bench/readme.ts';
import { summarise } from '../../bench/summary.ts';
import { figures, lapOf } from '../support/bench-rows.ts';

const wide: Chart = {
  title: 'HTTP <to> "stdio" & back',
  unit: 'µs',
  groups: ['100B', '20KB', '1MB'],
  series: Array.from({ length: 7 }, (_, at) => ({
    name: `an arm with a long name ${at}`,
    colour: '#737b85',
    values: [0.04 * (at + 1), at === 3 ? undefined : 14.2 * (at + 1), 123_456 * (at + 1)],
  })),
};

/** The elements of the picture with their attributes; throws unless every tag is closed in order and every `&` begins an entity. */
function parse(svg: string): { name: string; attributes: Record<string, string>; text: string }[] {
  const open: string[] = [];
  const elements: { name: string; attributes: Record<string, string>; text: string }[] = [];
  if (/&(?!(?:amp|lt|gt|quot);)/.test(svg)) throw new Error('an & that begins no entity');
  for (const [, closing, name = '', inner = '', selfClosing, text = ''] of svg.matchAll(
    /<(\/)?([a-z]+)((?:\s[\w:-]+="[^"<]*")*)\s*(\/)?>([^<]*)/g,
  )) {
    if (closing !== undefined) {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
      continue;
    }
    const attributes = Object.fromEntries(
      [...inner.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
    );
    elements.push({ name, attributes, text: text.trim() });
    if (selfClosing === undefined) open.push(name);
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} left open`);
  const markup = svg.replaceAll(/<(\/)?([a-z]+)((?:\s[\w:-]+="[^"<]*")*)\s*(\/)?>/g, '');
  if (/[<>]/.test(markup)) throw new Error('something between the tags that is no text');
  return elements;
}

test('a chart is well-formed, says in words what it shows, and is the same every time', () => {
  const svg = drawChart(wide);
  const elements = parse(svg);
  expect(elements[0]).toMatchObject({ name: 'svg', attributes: { role: 'img', 'aria-labelledby': 'title desc' } });
  expect(elements.find(({ name }) => name === 'title')?.text).toBe('HTTP &lt;to&gt; &quot;stdio&quot; &amp; back');
  expect(elements.find(({ name }) => name === 'desc')?.text).toContain('20KB: an arm with a long name 0 14.2 µs');
  expect(elements.find(({ name }) => name === 'desc')?.text).toContain('an arm with a long name 3 not measured');
  expect(drawChart(wide)).toBe(svg);
});

test('every value stands at its bar, and what was not measured is a dash', () => {
  const texts = parse(drawChart(wide))
    .filter(({ name }) => name === 'text')
    .map(({ text }) => text);
  for (const value of wide.series.flatMap(({ values }) => values))
    expect(texts).toContain(value === undefined ? '–' : short(value));
  expect(texts.some((text) => text.includes('logarithmic'))).toBe(true);
});

interface Box {
  readonly what: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Where bars, legend keys and texts are; a text as wide as its characters at most are. */
function boxes(svg: string): { bars: Box[]; texts: Box[] } {
  const found: { bars: Box[]; texts: Box[] } = { bars: [], texts: [] };
  for (const { name, attributes: at, text } of parse(svg)) {
    const [x, y] = [Number(at['x']), Number(at['y'])];
    if (name === 'rect') {
      found.bars.push({ what: name, left: x, right: x + Number(at['width']), top: y, bottom: y + Number(at['height']) });
    } else if (name === 'text') {
      const size = Number(at['font-size']);
      const width = textWidth(text.replaceAll(/&\w+;/g, '&'), size);
      const left = x - width * ({ middle: 0.5, end: 1 }[at['text-anchor'] ?? ''] ?? 0);
      found.texts.push({ what: text, left, right: left + width, top: y - size * 0.8, bottom: y + size * 0.25 });
    }
  }
  return found;
}

test('nothing overflows the picture, and no text lies over another', () => {
  const few = { ...wide, groups: ['100B'], series: wide.series.slice(0, 2).map((each) => ({ ...each, values: [each.values[0]] })) };
  const level = { ...wide, series: wide.series.map((each) => ({ ...each, values: [0.25, 88.8, 12_345] })) };
  for (const chart of [wide, few, level, { ...wide, series: wide.series.slice(0, 1) }, { ...wide, series: [] }]) {
    const { bars, texts } = boxes(drawChart(chart));
    const outside = [...bars, ...texts].filter(
      ({ left, right, top, bottom }) => left < 0 || top < 0 || right > 960 || bottom > 400,
    );
    expect(outside).toEqual([]);
    expect(bars.filter(({ top, bottom }) => !(bottom >= top))).toEqual([]);
    const covered = texts.flatMap((one, index) =>
      texts
        .slice(index + 1)
        .filter((two) => one.left < two.right - 1 && two.left < one.right - 1 && one.top < two.bottom && two.top < one.bottom)
        .map((two) => `${one.what} over ${two.what}`),
    );
    expect(covered).toEqual([]);
  }
});

test('a longer bar is a larger value, on a linear axis in proportion', () => {
  const svg = drawChart({
    title: 't',
    unit: 'ms',
    groups: ['a'],
    series: [1, 2, 4].map((value) => ({ name: `s${value}`, colour: '#000000', values: [value] })),
  });
  expect(svg).not.toContain('logarithmic');
  const heights = parse(svg)
    .filter(({ name, attributes }) => name === 'rect' && attributes['rx'] === undefined)
    .map(({ attributes }) => Number(attributes['height']));
  expect((heights[1] ?? 0) / (heights[0] ?? 1)).toBeCloseTo(2, 1);
  expect((heights[2] ?? 0) / (heights[0] ?? 1)).toBeCloseTo(4, 1);
});

test('a series that lacks a value is refused', () => {
  expect(() => drawChart({ ...wide, groups: ['a'] })).toThrow('3 values for 1 groups');
});

test('a run yields p50 and CPU by route and sessions, and quotes those at 32', () => {
  const laps = (['stdio', 'http', 'bridge'] as const).flatMap((route) =>
    ['1x100B', '1x1MB', ...(route === 'bridge' ? [] : ['32x100B'])].map((cell) => lapOf(route, cell, { floor: figures(1.25, 80) })),
  );
  const charts = chartsOf(summarise(laps, ['floor'], []));
  expect(charts.map(({ name }) => name)).toContain('bridge-1-cpu.svg');
  expect(charts).toHaveLength(10);
  expect(quotedCharts(charts).map(({ name }) => name)).toEqual([
    'stdio-32-p50.svg',
    'stdio-32-cpu.svg',
    'http-32-p50.svg',
    'http-32-cpu.svg',
  ]);
  expect(charts[0]?.svg).toContain('>1.25</text>');
});

test('the figures replace what stands between the marks of the README and nothing else', () => {
  const mark = '<!-- figures: written by npm run bench -- --write-readme -->';
  const block = figuresBlock('A run.', '| a | b |\n', [{ name: 'x.svg', title: 'X', svg: '' }]);
  const written = replaceFigures(`before\n${mark}\nold\n<!-- end of figures -->\nafter\n`, block);
  expect(written).toBe(`before\n${mark}\n\nA run.\n\n![X](charts/x.svg)\n\n| a | b |\n\n<!-- end of figures -->\nafter\n`);
  expect(() => replaceFigures('no marks', block)).toThrow('bench/README.md has no');
});
