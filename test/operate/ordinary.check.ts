import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { renderGoodDay } from '../../scripts/good-day.ts';
import { WEBHOOK_EVENTS } from '../../src/domain/webhooks/webhook.ts';
import { aCommand, aFolder, printed } from '../support/command.ts';
import { anEndpoint } from '../support/webhooks.ts';
import { runPrometheus } from './prometheus.ts';

/** A minute of it with rules that wait for a sixth of it; an hour with the rules as they are: `ORDINARY_SECONDS=3600`. */
const SECONDS = Number(process.env['ORDINARY_SECONDS'] ?? 60);
const WAITS = SECONDS < 3600 ? '10s' : undefined;
const DAY_MS = 86_400_000;
/** One in a second, which the limits allow. */
const PATHS = ['domains', 'reports?limit=200', 'alerts', 'changes', 'overview', 'days'];

test(`no alarm fires in ${SECONDS} seconds of ordinary work: files come in, alerts fire, webhooks go out, partners poll`, {
  timeout: 1000 * SECONDS + 120_000,
}, async () => {
  const [port, door, receiver] = [await findFreePort(), await aFolder(), await anEndpoint()];
  const keys = join(await aFolder(), 'secrets.key');
  await writeFile(keys, randomBytes(32).toString('base64'), { mode: 0o600 });
  const { start, json } = await aCommand({
    PLUMBLINE_WATCH: door,
    PLUMBLINE_BACKUP_TO: await aFolder(),
    PLUMBLINE_METRICS_PORT: String(port),
    PLUMBLINE_KEEP_REPORTS_DAYS: '400',
    PLUMBLINE_SECRETS_KEY_FILE: keys,
    PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1',
    PLUMBLINE_DNS_CHECKS: 'off',
  });
  await json('account', 'create', 'Ordinary');
  const domains = ['example.com', 'shop.example', 'parked.example'];
  for (const name of domains) await json('domain', 'add', 'Ordinary', name);
  const { key } = await json('key', 'create', 'Ordinary', 'Partner');
  await json('webhook', 'create', 'Ordinary', receiver.url, '--events', WEBHOOK_EVENTS.join(','));
  const server = start('serve', '--json');
  onTestFinished(() => void server.kill('SIGKILL'));
  server.stderr.resume();
  const { url } = JSON.parse(await printed(server, /"url".*\n/));
  const { ask, count } = await runPrometheus([port], WAITS);

  const headers = { authorization: `Bearer ${key}` };
  const statuses = new Set<number>();
  const fired = new Set<string>();
  const untilMs = performance.now() + 1000 * SECONDS;
  let days = 0;
  for (; performance.now() < untilMs || days === 0; await sleep(1000)) {
    const answer = await fetch(`${url}/v1/external/${PATHS[days % PATHS.length]}`, { headers });
    statuses.add(answer.status);
    await answer.text();
    const day = new Date(Date.now() - (1 + (days % 300)) * DAY_MS);
    day.setUTCHours(0, 0, 0, 0);
    const domain = domains[days % domains.length] as string;
    const name = `${days}.xml`;
    const part = join(door, `.${name}.part`);
    await writeFile(part, renderGoodDay(domain, { day, ip: '192.0.2.10' }));
    await rename(part, join(door, name));
    days += 1;
    for (const { metric } of await ask('ALERTS{alertstate="firing"}').catch(() => []))
      fired.add(metric['alertname'] ?? '');
  }
  expect([...fired]).toEqual([]);
  expect([...statuses]).toEqual([200]);
  const stored = async () =>
    (await (await fetch(`${url}/v1/external/reports`, { headers })).json()).total;
  await expect.poll(stored, { timeout: 60_000, interval: 500 }).toBe(Math.min(days, 300));
  expect(receiver.got.length).toBeGreaterThan(0);
  // The rules were asked all the time, of a server that answered.
  expect(await count(`min_over_time(up[${SECONDS}s]) == 1`)).toBe(1);
  expect(await count('plumbline_job_failing == 0')).toBeGreaterThan(5);
});
