// What holds for the program as a whole: its structure, commands, storage and load.

export const house = {
  'HOUSE-1': 'Imports run downward through the floors and slices; the checker sees every module and bites on a planted violation.',
  'HOUSE-2':
    'The public surface (operations, tools, schemas, events, error codes, commands) is frozen in test/golden/catalog.json.',
  'HOUSE-3': 'A shell with an older Node runs the product on the bundled runtime, or is told what is needed.',

  'CLI-1': 'Every command has --help, --json, a clear error with exit code 1 for failure and 2 for misuse.',
  'CLI-2': 'up prints one JSON line with agent_url, human_url, socket and pid; SIGTERM ends it with 0; down works from elsewhere.',
  'CLI-3': 'The first run guides a person at a terminal and is silent and sane without one.',

  'STORE-1': 'Every store passes one contract suite on SQLite and on PostgreSQL.',
  'STORE-2': 'A synced commit does not block the event loop.',
  'STORE-3': 'A second daemon on the same home or database is refused.',

  'LOAD-1': '20 agents with 1,000 calls each, mixed allow and ask: flat memory, no leaked child, the log verifies.',
} as const;
