import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { openMetricsPort } from '../../src/metrics/port.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { serveApi } from '../support/api.ts';
import { aBareAccount, aDomain, anAlert } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';

const read = (file: string) =>
  readFileSync(new URL(`../../docs/operate/${file}`, import.meta.url), 'utf8');

/** Every metric that a process with a database, a backup and evaluated alerts has. */
async function listMetrics(): Promise<ReadonlySet<string>> {
  const folder = await aFolder();
  const database = join(folder, 'plumbline.db');
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await writeFile(join(folder, 'plumbline-2026-03-15.db'), 'a backup');
  const accountId = await aBareAccount(store.db);
  await anAlert(store.db, { accountId, domainId: (await aDomain(store.db, accountId)).id });
  const ran = { name: 'alerts:0', ran_at: '2026-03-15T00:00:00Z' };
  await store.db.write((tx) => tx.insertInto('lease').values(ran).execute());
  const config = { database, backups: { folder, kept: { days: 1, weeks: 1, months: 1 } } };
  const port = await findFreePort();
  const log = pino({ level: 'silent' });
  const { metrics, stop } = await openMetricsPort(
    config,
    { host: '127.0.0.1', port },
    { store, log },
  );
  onTestFinished(stop);
  await serveApi({ metrics });
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const types = text.matchAll(/^# TYPE (\S+) (\S+)$/gm);
  const names = [...types].flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  );
  return new Set(names);
}

const NAME = /\b(?:plumbline|nodejs|process)_[a-z0-9_]+/g;
const inRules = () => read('prometheus-rules.yml').match(/^\s+(?:expr:|sum|>).*$/gm) ?? [];
const inDashboard = () =>
  JSON.parse(read('grafana.json')).panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );

test('the rules and the dashboard use only metrics that a process has, and the dashboard all of its own', async () => {
  const known = await listMetrics();
  const [ruled, shown] = [inRules(), inDashboard()].map(
    (expressions) => new Set(expressions.join('\n').match(NAME)),
  ) as [Set<string>, Set<string>];
  expect(ruled.size).toBeGreaterThan(8);
  expect([...ruled.union(shown)].filter((name) => !known.has(name))).toEqual([]);
  const toBase = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '');
  const used = new Set([...shown].map(toBase));
  const own = [...known].filter((name) => name.startsWith('plumbline_')).map(toBase);
  expect(own.filter((name) => !used.has(name))).toEqual(['plumbline_kept_pages']);
});

test('each alert of the rules is one that promtool tests', () => {
  const namesIn = (text: string, name: RegExp) =>
    [...new Set([...text.matchAll(name)].map(([, found]) => found))].toSorted();
  const tests = readFileSync(
    new URL('../operate/prometheus-rules.test.yml', import.meta.url),
    'utf8',
  );
  expect(namesIn(tests, /alertname="(\w+)"/g)).toEqual(
    namesIn(read('prometheus-rules.yml'), /alert: (\w+)/g),
  );
});
