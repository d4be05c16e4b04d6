// Installs the stock servers and clients of test/interop/ when they are not there: `node interop-install.ts`. One JSON line,
// {"ready"} or {"reason"}.
import { fileURLToPath } from 'node:url';
import { installIn } from '../../scripts/pinned-packages.ts';

const reason = installIn(fileURLToPath(new URL('../interop', import.meta.url)));
process.stdout.write(`${JSON.stringify(reason === undefined ? { ready: true } : { reason })}\n`);
