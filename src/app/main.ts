// The entry of the program. What is only needed by the daemon is loaded only when it starts.
import { declaredOperations } from './catalog.ts';
import { runProgram } from './program.ts';

await runProgram({
  argv: process.argv.slice(2),
  environment: process.env,
  operations: declaredOperations(),
  startDaemon: async (settings, log) => (await import('./daemon.ts')).startDaemon(settings, log),
});
