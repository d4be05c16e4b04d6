// The stdio bridge as a process of its own, for clients that spawn their server: `node bridge-process.ts URL TOKEN`.
import { runBridge } from '../../src/wire/bridge.ts';
import { silentLog } from './silent-log.ts';

const [url = '', token = ''] = process.argv.slice(2);
await runBridge({ input: process.stdin, output: process.stdout, endpoint: { url }, token, log: silentLog() });
