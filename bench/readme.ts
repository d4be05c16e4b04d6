// The part of bench/README.md that a run writes: everything between its two marks.
import type { ChartFile } from './charts.ts';

const begin = '<!-- figures: written by npm run bench -- --write-readme -->';
const end = '<!-- end of figures -->';

/** `heading` says which run it was; `report` is its Markdown. */
export function figuresBlock(heading: string, report: string, charts: readonly ChartFile[]): string {
  const pictures = charts.map(({ name, title }) => `![${title}](charts/${name})`);
  return [heading, ...pictures, report.trim()].join('\n\n');
}

/** Throws when the marks are not there, so that nothing is written beside them. */
export function replaceFigures(readme: string, block: string): string {
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from === -1 || to < from) throw new Error(`bench/README.md has no “${begin}” before “${end}”`);
  return `${readme.slice(0, from + begin.length)}\n\n${block}\n\n${readme.slice(to)}`;
}
