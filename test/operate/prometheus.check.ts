import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { aCommand, aFolder, printed } from '../support/command.ts';
import { aDisk } from '../support/disk.ts';

const RULES = new URL('../../docs/operate/prometheus-rules.yml', import.meta.url);
const PATIENCE = { timeout: 60_000, interval: 200 };
const run = promisify(execFile);

test('promtool accepts the rules, and each fires for what it says', async () => {
  await run('promtool', ['check', 'rules', fileURLToPath(RULES)]);
  const tests = fileURLToPath(new URL('prometheus-rules.test.yml', import.meta.url));
  await run('promtool', ['test', 'rules', tests]);
});

/** A Prometheus that asks these ports every other second, with rules that do not wait. */
async function runPrometheus(ports: readonly number[]) {
  const folder = await aFolder();
  const port = await findFreePort();
  const rules = readFileSync(RULES, 'utf8').replace(/for: \d+[mh]/g, 'for: 1s');
  await writeFile(join(folder, 'rules.yml'), rules);
  const targets = ports.map((one) => `127.0.0.1:${one}`);
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'plumbline', static_configs: [{ targets }] }],
  };
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const args = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn('prometheus', args, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ask = async (expression: string): Promise<{ metric: Record<string, string> }[]> => {
    const query = `query=${encodeURIComponent(expression)}`;
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?${query}`);
    return (await answer.json()).data.result;
  };
  const count = (expression: string) =>
    ask(expression).then(
      ({ length }) => length,
      () => 0,
    );
  return { count, isFiring: (alert: string) => count(`ALERTS{alertstate="firing",${alert}}`) };
}

test('a Prometheus that asks a server and a worker fires when a door stops, the disk fills, and the worker is killed', async () => {
  const [servePort, workPort] = [await findFreePort(), await findFreePort()];
  const door = await aFolder();
  // The rule fires below a gigabyte.
  const disk = await aDisk(1_200);
  const { start, env, withDb } = await aCommand({
    PLUMBLINE_DATABASE: join(disk, 'plumbline.db'),
    PLUMBLINE_WATCH: door,
  });
  const ports: NodeJS.ProcessEnv = env;
  const begin = async (port: number, wanted: RegExp, ...args: string[]) => {
    ports['PLUMBLINE_METRICS_PORT'] = String(port);
    const child = start(...args);
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr.resume();
    await printed(child, wanted);
    return child;
  };
  await begin(servePort, /listens on/, 'serve', '--only', 'api');
  const worker = await begin(workPort, /works on/, 'work');
  const { count, isFiring } = await runPrometheus([servePort, workPort]);
  await expect.poll(() => count('up == 1'), PATIENCE).toBe(2);
  const evaluated = 'plumbline_oldest_evaluation_age_seconds';
  await expect.poll(() => count(evaluated), PATIENCE).toBe(2);
  const failing = 'alertname="PlumblineDoorFailing",door="folder"';
  const late = 'alertname="PlumblineAlertsNotEvaluated"';
  const low = 'alertname="PlumblineDiskLow"';
  await expect.poll(() => count('plumbline_disk_free_bytes > 1e9'), PATIENCE).toBeGreaterThan(0);
  expect(await Promise.all([failing, late, low].map(isFiring))).toEqual([0, 0, 0]);

  await rmdir(door);
  await expect.poll(() => isFiring(failing), PATIENCE).toBe(1);

  const filling = join(disk, 'filling');
  await writeFile(filling, Buffer.alloc(300_000_000));
  await expect.poll(() => isFiring(low), PATIENCE).toBe(1);
  // Until nothing more can be written.
  const full = await writeFile(join(disk, 'rest'), Buffer.alloc(1_200_000_000)).catch(
    ({ code }) => code,
  );
  expect(full).toBe('ENOSPC');
  await expect.poll(() => count('plumbline_disk_free_bytes < 1e6'), PATIENCE).toBe(2);
  expect(await Promise.all([low, failing].map(isFiring))).toEqual([1, 1]);
  for (const name of ['filling', 'rest']) await rm(join(disk, name));
  await expect.poll(() => isFiring(low), PATIENCE).toBe(0);

  worker.kill('SIGKILL');
  const down = `alertname="PlumblineDown",instance="127.0.0.1:${workPort}"`;
  await expect.poll(() => isFiring(down), PATIENCE).toBe(1);
  // Three hours without a worker.
  const ran_at = `${new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 19)}Z`;
  await withDb((db) => db.write((tx) => tx.updateTable('lease').set({ ran_at }).execute()));
  await expect.poll(() => isFiring(late), PATIENCE).toBe(1);
});
