// Whether a process still runs. A zombie does not: it ended, and only its parent has not looked yet.
import { readFileSync } from 'node:fs';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    // proc(5): "pid (comm) state …"; comm may hold blanks and parentheses, so the state follows the last of them.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    // No procfs here, or the process went away between the two looks; the next look tells.
    return true;
  }
}
