import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { toInstant } from '../../src/domain/instant.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { startJobs } from '../../src/jobs/jobs.ts';
import { readState } from '../../src/metrics/state.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const DAY_MS = 86_400_000;

test('retention deleted without a trace', async () => {
  const store = await aStore();
  const { name: domain } = await aDomain(store.db, await aBareAccount(store.db));
  const toReport = (ago: number) => {
    const day = toInstant(new Date(Date.now() - ago * DAY_MS)).slice(0, 10);
    return aReport({ domain, reportId: `r${ago}`, begin: `${day}T00:00:00Z` });
  };
  const days = Array.from({ length: 100 }, (_, i) => 400 - i);
  await receive(store.db, days.map(toReport));
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const config = readConfig({ PLUMBLINE_KEEP_REPORTS_DAYS: '350' });
  const jobs = startJobs(config, { store, log, parser: createParserProcess() });
  onTestFinished(jobs.stop);
  const deleted = () => lines.filter(({ job }) => job === 'retention');
  await expect.poll(() => deleted().length, { timeout: 20_000 }).toBe(1);
  const left = await store.db.selectFrom('report').select('id').execute();
  expect(deleted()).toMatchObject([
    { level: 30, reports: 100 - left.length, originals: 0, kept: { reportsDays: 350 } },
  ]);
});

test('each job has a metric that is 0 from the start', async () => {
  const store = await aStore();
  const config = readConfig({
    PLUMBLINE_DATABASE: ':memory:',
    PLUMBLINE_KEEP_REPORTS_DAYS: '350',
    PLUMBLINE_DNS_CHECKS: 'on',
    PLUMBLINE_DNS_SERVERS: '127.0.0.1:9',
  });
  const log = pino({ level: 'silent' });
  const text = await readState(config, store.db);
  const jobs = startJobs(config, { store, log, parser: createParserProcess() });
  onTestFinished(jobs.stop);
  const known = [...text.matchAll(/^plumbline_job_failing\{job="(.+)"\} 0$/gm)].map(
    ([, job]) => job,
  );
  // The inbox has metrics of its own.
  expect(known).toEqual(expect.arrayContaining(jobs.names.filter((name) => name !== 'inbox')));
  expect(known).toEqual(expect.arrayContaining(['mail', 'backup']));
});
