import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { aFolder } from '../support/command.ts';

export const RULES = new URL('../../docs/operate/prometheus-rules.yml', import.meta.url);

/** A Prometheus that asks these ports every other second, with rules that wait so long; as the rules say when it is undefined. */
export async function runPrometheus(ports: readonly number[], waits: string | undefined = '1s') {
  const folder = await aFolder();
  const port = await findFreePort();
  const rules = readFileSync(RULES, 'utf8');
  const given = waits === undefined ? rules : rules.replace(/for: \d+[mh]/g, `for: ${waits}`);
  await writeFile(join(folder, 'rules.yml'), given);
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
  return { ask, count, isFiring: (alert: string) => count(`ALERTS{alertstate="firing",${alert}}`) };
}
