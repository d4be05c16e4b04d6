// What the stdio bridge tells an agent when the daemon cannot be reached or does not want it: what is wrong and what to do.

/** `where` is the address as the user configured it. `sent`: the request had left, so it may have taken effect. */
export function connectionFault(error: unknown, where: string, sent: boolean): string {
  const { code = '', message }: { readonly code?: string; readonly message: string } =
    error instanceof Error ? error : { message: String(error) };
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return `No Sallyport daemon answers at ${where}. Start it with: sallyport up`;
    case 'EACCES':
    case 'EPERM':
      return `The system does not let this user connect to ${where}. Start the bridge as the user the daemon runs as.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of ${where} cannot be found. Check the address of the daemon.`;
    default:
      return sent
        ? `The connection to the daemon at ${where} was lost (${code || message}) before it answered. The request may have taken effect: check before repeating it.`
        : `The daemon at ${where} cannot be reached: ${code || message}.`;
  }
}

/** `said` is the message of the daemon's own error, where its body held one. */
export function statusFault(status: number, said: string | undefined, where: string): string {
  switch (status) {
    case 401:
      return (
        'The daemon does not accept this token: it is unknown, was replaced, or its agent was revoked. ' +
        'Put a current one into SALLYPORT_TOKEN or SALLYPORT_TOKEN_FILE; "sallyport agent rotate NAME" prints one.'
      );
    case 403:
      return `The daemon does not answer to the address ${where}. ${said ?? 'Use the one it printed when it started.'}`;
    default:
      return said ?? `What answers at ${where} is no Sallyport agent door: it said HTTP ${status}.`;
  }
}
