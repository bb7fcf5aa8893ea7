/**
 * How much memory a server takes that is asked for the sources of long ranges, for each way of starting it:
 * `npm run memory -- [--reports 98550] [--requests 700] [--package <folder>] [--keep <folder>] [--most <MB>]`.
 * A number over `--most` ends it with 1. Linux alone tells of it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fill, forgetCounted } from './database.ts';
import { askForSources } from './load.ts';
import { listWays, start } from './ways.ts';

const { values } = parseArgs({
  options: {
    reports: { type: 'string', default: '98550' },
    requests: { type: 'string', default: '700' },
    /** Where an installed package is; the checkout takes its place. */
    package: { type: 'string' },
    /** A folder in which the database stays, to be used again. */
    keep: { type: 'string' },
    /** A part of the name of a way, when not all are meant. */
    way: { type: 'string', default: '' },
    most: { type: 'string', default: '300' },
  },
});

const folder = values.keep ?? (await mkdtemp(join(tmpdir(), 'plumbline-memory-')));
try {
  const filled = await fill(folder, Number(values.reports));
  let isOver = false;
  for (const way of await listWays(values.package)) {
    if (!way.name.includes(values.way)) continue;
    forgetCounted(filled);
    const server = await start(way, filled.database);
    try {
      await askForSources(server.url, filled, Number(values.requests));
      const { now, peak } = server.measure();
      isOver ||= peak > Number(values.most);
      process.stdout.write(`${way.name}: ${peak} MB at most, ${now} MB at the end\n`);
    } finally {
      await server.stop();
    }
  }
  if (isOver) process.exitCode = 1;
} finally {
  if (values.keep === undefined) await rm(folder, { recursive: true });
}
