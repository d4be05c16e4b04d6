// The order of the house. A file imports only what stands below it; ARCHITECTURE.md shows the same list.
// Run as test/architecture.test.ts, which also plants violations and counts the modules that were seen.
const slices = [
  ['audit'],
  ['operator'],
  ['vault'],
  ['auth'],
  ['agents', 'placements', 'git'],
  ['defences'],
  ['policy', 'fleet'],
  ['registry'],
  ['results'],
  ['grants'],
  ['approvals'],
  ['registration'],
  ['gateway'],
];

const floors = [
  { name: 'lib', at: '^src/lib/', sees: [] },
  { name: 'kernel', at: '^src/kernel/', sees: ['^src/lib/'] },
  { name: 'features', at: '^src/features/', sees: ['^src/lib/', '^src/kernel/'] },
  { name: 'wire', at: '^src/wire/', sees: ['^src/lib/', '^src/kernel/'] },
  { name: 'platform', at: '^src/platform/', sees: ['^src/lib/', '^src/kernel/', '^src/wire/', '^src/features/[^/]+/model\\.ts$'] },
  { name: 'faces', at: '^src/faces/', sees: ['^src/lib/', '^src/kernel/', '^src/wire/', '^src/features/[^/]+/model\\.ts$'] },
];

const test = '\\.test\\.ts$';

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    ...floors.map(({ name, at, sees }) => ({
      name: `floor-${name}`,
      severity: 'error',
      from: { path: at, pathNot: test },
      to: { path: '^(src|console|test|bench|examples|scripts)/', pathNot: [at, ...sees] },
    })),
    ...slices.map((row, index) => ({
      name: `slice-${row.join('-')}`,
      severity: 'error',
      from: { path: `^src/features/(${row.join('|')})/`, pathNot: test },
      to: { path: `^src/features/(${slices.slice(index).flat().join('|')})/`, pathNot: '^src/features/$1/' },
    })),
    {
      name: 'slices-meet-at-their-face',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/', pathNot: test },
      to: { path: '^src/features/([^/]+)/', pathNot: ['^src/features/$1/', '^src/features/([^/]+)/(\\1|model)\\.ts$'] },
    },
    {
      name: 'no-outside-world-in-the-middle',
      severity: 'error',
      from: { path: '^src/(lib|kernel|features|faces)/', pathNot: test },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'sql-lives-in-stores',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['/store\\.ts$', '/migrations/', '^src/kernel/database\\.ts$', '^src/platform/(sqlite|postgres|database)', test],
      },
      to: { path: 'node_modules/(kysely|pg)/' },
    },
    {
      name: 'http-framework-in-the-human-door',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/faces/http/', '^src/app/', test] },
      to: { path: 'node_modules/(hono|@hono)/' },
    },
    {
      name: 'no-sdk-in-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: test },
      to: { path: 'node_modules/@modelcontextprotocol/' },
    },
    {
      name: 'nobody-imports-the-roof',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/app/', test] },
      to: { path: '^src/app/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
