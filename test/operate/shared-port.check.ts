import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { anAccount } from '../support/builders.ts';
import { aCommand, finish } from '../support/command.ts';

const toPath = (module: string) => fileURLToPath(new URL(module, import.meta.url));

/** A network of its own, whose settings are not those of the machine. */
const IN_NETWORK = 'ip link set lo up && echo 1 >/proc/sys/net/ipv4/tcp_migrate_req && exec "$@"';

test('servers of one port are replaced one after the other, and no request is lost', async () => {
  const { withDb, env } = await aCommand({
    PLUMBLINE_PORT: '8080',
    PLUMBLINE_SHARE_PORT: 'on',
    PLUMBLINE_REQUESTS_PER_IP: '1000000000',
    PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
    PLUMBLINE_LOG_LEVEL: 'warn',
  });
  const { key } = await withDb((db) => anAccount(db));
  const script = [toPath('handover-process.ts'), toPath('../../src/cli.ts'), key];
  const network = ['--map-root-user', '--net', 'sh', '-c', IN_NETWORK, 'sh'];
  const { status, stdout, stderr } = await finish(
    spawn('unshare', [...network, process.execPath, ...script], {
      env: { ...process.env, ...env },
    }),
  );
  expect(status, stderr).toBe(0);
  const { outcomes } = JSON.parse(stdout);
  expect(Object.keys(outcomes)).toEqual(['200']);
  // Each server says it when it starts, and nothing else is to be said.
  const lines = stderr.trim().split('\n');
  expect(new Set(lines.map((line) => JSON.parse(line).msg))).toEqual(
    new Set([expect.stringMatching(/^limits are counted in this process alone/)]),
  );
});
