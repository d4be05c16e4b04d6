// Prints what the conformance suite found, at the end of a test run that made some of its runs.
import type { Reporter, TestModule } from 'vitest/node';
import { drawTable, type Column } from './table.ts';

declare module 'vitest' {
  interface TaskMeta {
    conformance?: Column;
  }
}

export default class TableReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const columns = modules.flatMap((module) => [...module.children.allTests()].flatMap((test) => test.meta().conformance ?? []));
    for (const side of ['server', 'client'] as const) {
      const own = columns.filter((column) => column.side === side).sort((one, other) => one.run.localeCompare(other.run));
      if (own.length > 0) process.stdout.write(`\n${drawTable(`MCP conformance, ${side} side`, own)}\n`);
    }
  }
}
