/** Is imported into a measured process before its own code: it tells the bench what the process has used so far. */
export interface Usage {
  /** Microseconds of CPU, user and system, of all its threads. */
  readonly micros: number;
  /** Resident memory. */
  readonly megabytes: number;
}

/** A child that the process forks imports this file too, and gets other messages. */
process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  process.send?.({ micros: user + system, megabytes: process.memoryUsage.rss() / 2 ** 20 });
});
process.on('disconnect', () => process.exit());
