// The tie for the one death nobody can catch: a tiny shell that holds a pipe to this process and ends every group it was told of when the
// pipe closes, however this process died. It lives in a session of its own and ignores the terminal's signals.
import { spawn, type ChildProcess } from 'node:child_process';
import type { Log } from '../kernel/ports.ts';

// Sessions are swept as well, for children that made groups of their own (a shell with job control).
const script = `
trap '' HUP INT QUIT TERM
groups=' '
while read -r sign id; do
  case $sign in
    +) groups="$groups$id " ;;
    -) case "$groups" in *" $id "*) groups="\${groups%%" $id "*} \${groups#*" $id "}" ;; esac ;;
  esac
done
for id in $groups; do kill -9 "-$id"; done
[ "$groups" = ' ' ] && exit 0
for stat in /proc/[0-9]*/stat; do
  read -r line < "$stat" || continue
  set -- \${line##*) }
  case "$groups" in *" $4 "*) kill -9 "\${line%% *}" ;; esac
done
`;
const restartMs = 500;

export interface Guard {
  readonly pid: number | undefined;
  watch(group: number): void;
  forget(group: number): void;
  /** Lets the guard go; it ends whatever it still watches. */
  close(): void;
}

/** A guard that dies is replaced and told everything again. */
export function createGuard(log: Log): Guard {
  const groups = new Set<number>();
  let shell: ChildProcess;
  let closed = false;

  function start(): void {
    shell = spawn('/bin/sh', ['-c', script, 'sallyport-guard'], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
      cwd: '/',
    });
    shell.unref();
    shell.stdin?.on('error', () => undefined);
    (shell.stdin as { unref?: () => void } | null)?.unref?.();
    shell.on('error', (error) => log.error('the guard of child processes cannot start', { error: error.message }));
    shell.on('exit', () => {
      if (closed) return;
      log.warn('the guard of child processes ended; starting another');
      setTimeout(() => !closed && start(), restartMs).unref();
    });
    for (const group of groups) tell('+', group);
  }

  // A pipe takes a short write at once: the guard knows of the group before anything else happens here.
  function tell(sign: '+' | '-', group: number): void {
    shell.stdin?.write(`${sign} ${group}\n`);
  }

  start();
  return {
    get pid() {
      return shell.pid;
    },
    watch(group) {
      groups.add(group);
      tell('+', group);
    },
    forget(group) {
      if (groups.delete(group)) tell('-', group);
    },
    close() {
      closed = true;
      shell.stdin?.end();
    },
  };
}
