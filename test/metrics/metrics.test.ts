import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { readConfig } from '../../src/config/config.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../../src/domain/alerts/thresholds.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { startInbox } from '../../src/jobs/inbox.ts';
import { startSingleJob } from '../../src/jobs/leased-job.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { openMetricsPort } from '../../src/metrics/port.ts';
import { createLeases } from '../../src/store/work/leases.ts';
import { serveApi } from '../support/api.ts';
import { aBareAccount, aDomain, anAccount } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { aReportMail, listMailRows } from '../support/inbox.ts';
import { aStore } from '../support/store.ts';

/** What has been counted, by the line's text before its value. */
async function read({ registry }: ReturnType<typeof createMetrics>) {
  const lines = (await registry.metrics()).split('\n').filter((line) => /^plumbline_/.test(line));
  return new Map(lines.map((line) => line.split(/ (?=\S+$)/) as [string, string]));
}

const requests = (operation: string, status: number) =>
  `plumbline_http_requests_total{operation="${operation}",status="${status}"}`;

test('requests count by operation and status; what clients invent has no name of its own', async () => {
  const metrics = createMetrics();
  // Without the docs, whether they are built here or not.
  const { db, get, send } = await serveApi({ metrics, site: await aFolder() });
  const { key } = await anAccount(db);
  const path = '/v1/external/domains';
  const { headers } = await get(path, { key });
  await get(path, { key, headers: { 'If-None-Match': String(headers['etag']) } });
  await get(`${path}/3f2504e0-4f89-41d3-9a0c-0305e82c3301/reports`, { key });
  await get(`${path}?limit=0`, { key });
  await get(path);
  for (const other of ['/docs/nothing', '/healthz', '/a-path-of-mine', '/DOCS', '/v1/a'])
    await send(other);
  const counted = await read(metrics);
  const found = [...counted].filter(([name, n]) => name.includes('requests_total') && n !== '0');
  expect(found.map(([name]) => name).sort()).toEqual(
    [
      requests('docs', 404),
      requests('healthz', 200),
      requests('invalid', 401),
      requests('invalid', 404),
      requests('invalid', 422),
      requests('listDomains', 200),
      requests('listDomains', 304),
      requests('listReports', 404),
      requests('other', 404),
    ].sort(),
  );
  expect(counted.get(requests('other', 404))).toBe('2');
  expect(counted.get('plumbline_kept_pages')).toBe('1');
  expect(Number(counted.get('plumbline_kept_page_bytes'))).toBeGreaterThan(100);
  const seconds = 'plumbline_http_request_duration_seconds_count{operation="listDomains"}';
  expect(counted.get(seconds)).toBe('2');
});

test('a counter was not there before its first event, which increase() then did not see', async () => {
  const metrics = createMetrics();
  await serveApi({ metrics });
  const counted = await read(metrics);
  for (const series of [
    requests('listDomains', 500),
    requests('settings', 503),
    'plumbline_http_rate_limited_total{limit="ip"}',
    'plumbline_deliveries_total{channel="webhook",outcome="failed"}',
    'plumbline_alert_changes_total{change="fired"}',
    'plumbline_documents_total{door="smtp",outcome="stored",reason=""}',
    'plumbline_documents_total{door="imap",outcome="rejected",reason="bad_xml"}',
    'plumbline_documents_total{door="folder",outcome="ignored",reason="no_report"}',
  ])
    expect(counted.get(series), series).toBe('0');
  expect([...counted].filter(([name, n]) => /_total/.test(name) && n !== '0')).toEqual([]);
});

test('limits that are counted without the Redis that is configured were told by no metric', async () => {
  const [alone, usual] = [createMetrics(), createMetrics()];
  const { redis } = readConfig({ PLUMBLINE_REDIS: 'redis://127.0.0.1:9' });
  await serveApi({ metrics: alone, redis });
  await serveApi({ metrics: usual });
  expect((await read(alone)).get('plumbline_limits_alone')).toBe('1');
  expect((await read(usual)).get('plumbline_limits_alone')).toBe('0');
});

test('requests over a limit count by the limit', async () => {
  const metrics = createMetrics();
  const { db, get } = await serveApi({ metrics, requestsPerKey: 1, requestsPerIp: 3 });
  const { key } = await anAccount(db);
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await get('/v1/external/domains', { key })).status);
  expect(statuses).toEqual([200, 429, 429, 429]);
  const counted = await read(metrics);
  expect(counted.get('plumbline_http_rate_limited_total{limit="key"}')).toBe('2');
  expect(counted.get('plumbline_http_rate_limited_total{limit="ip"}')).toBe('1');
});

test('documents count by the kind of door, outcome and reason, and what they cause', async () => {
  const metrics = createMetrics();
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  await aDomain(store.db, accountId, { name: 'example.com' });
  const config = readConfig({ PLUMBLINE_DNS_SERVERS: '127.0.0.1:9' });
  const log = pino({ level: 'silent' });
  const inbox = startInbox(config, { store, log, metrics, parser: createParserProcess() });
  onTestFinished(() => inbox.stop());
  const envelope = { kind: 'file' } as const;
  const receivedAt = '2026-08-01T00:00:00Z';
  const door = 'folder:/srv/private' as const;
  await inbox.deliver({ door, envelope, receivedAt, bytes: aReportMail('one') });
  await inbox.deliver({ door, envelope, receivedAt, bytes: Buffer.from('<feedback><') });
  const states = async () => (await listMailRows(store.db)).map(({ state }) => state);
  await expect.poll(states).toEqual(['done', 'done']);
  const counted = await read(metrics);
  const isCounted = ([name, n]: [string, string]) => name.includes('documents_total') && n !== '0';
  const documents = [...counted].filter(isCounted);
  expect(documents).toEqual([
    ['plumbline_documents_total{door="folder",outcome="stored",reason=""}', '1'],
    ['plumbline_documents_total{door="folder",outcome="rejected",reason="bad_xml"}', '1'],
  ]);
  expect(counted.get('plumbline_document_duration_seconds_count{door="folder"}')).toBe('2');
  expect(counted.get('plumbline_evaluations_total')).toBe('1');
});

test('on its port a process answers with its counts and the state of the database, and 503 when that cannot be read', async () => {
  const store = await aStore();
  const port = await findFreePort();
  const log = pino({ level: 'silent' });
  const folder = await aFolder();
  await writeFile(join(folder, 'plumbline-2026-03-15.db'), 'a backup');
  await utimes(join(folder, 'plumbline-2026-03-15.db'), 1_000, 1_000);
  const backups = { folder, kept: { days: 1, weeks: 1, months: 1 } };
  const address = { host: '127.0.0.1', port };
  const config = { database: ':memory:', backups };
  const get = () => fetch(`http://127.0.0.1:${port}/metrics`, { headers: { Connection: 'close' } });
  const first = await openMetricsPort(config, address, { store, log });
  onTestFinished(first.stop);
  const text = await (await get()).text();
  expect(text).toMatch(/^plumbline_evaluations_total 0$/m);
  expect(text).toMatch(/^plumbline_last_backup_timestamp_seconds 1000$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  // What is not known has no value.
  expect(text).not.toMatch(/oldest_evaluation|disk_free/);
  first.stop();
  await store.close();
  const second = await openMetricsPort(config, address, { store, log });
  onTestFinished(second.stop);
  expect((await get()).status).toBe(503);
});

test('alerts that are evaluated count', async () => {
  const metrics = createMetrics();
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const { id } = await aDomain(store.db, accountId);
  const observe = metrics.observeEvaluation;
  await evaluate({ store, thresholds, now: () => new Date(), observe }, [id, id]);
  expect((await read(metrics)).get('plumbline_evaluations_total')).toBe('2');
});

test('runs of jobs count, also one that throws', async () => {
  const metrics = createMetrics();
  const { db } = await aStore();
  const leases = createLeases({ db, holder: 'this test' });
  const deps = { leases, logError: () => {}, pollMs: 5, observe: metrics.observeJob };
  const run = async () => {
    throw new Error('it is broken');
  };
  const job = startSingleJob({ name: 'broken', everyMs: 0, run }, deps);
  onTestFinished(() => job.stop());
  const count = async () =>
    Number((await read(metrics)).get('plumbline_job_duration_seconds_count{name="broken"}') ?? 0);
  await expect.poll(count).toBeGreaterThan(1);
});
