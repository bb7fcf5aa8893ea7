import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { aMailServer } from '../support/mail-server.ts';
import { startPostgres } from '../support/postgres.ts';
import { aDatabasePath } from '../support/store.ts';
import { killSenders } from './killed-delivery.ts';
import { aPostfix } from './postfix.ts';

/** With `KILL_ROUNDS=100`, 1,600 alerts fire and resolve. */
const KILLS = Number(process.env['KILL_ROUNDS'] ?? 2);
const TIMEOUT = { timeout: Math.max(300_000, KILLS * 30_000) };

async function onPostgres(): Promise<string> {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  return server.toUrl('postgres');
}

/** Has Postfix put a third of all mails off after their last byte. */
async function aPolicy() {
  let [asked, refused] = [0, 0];
  const server = createServer((socket) => {
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
      // Each question ends with an empty line.
      for (const question = /^.*?\n\n/s; question.test(text); text = text.replace(question, '')) {
        const isRefused = Math.random() < 1 / 3;
        asked += 1;
        if (isRefused) refused += 1;
        socket.write(`action=${isRefused ? 'defer Later' : 'dunno'}\n\n`);
      }
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return {
    port: (server.address() as AddressInfo).port,
    countTries: () => asked,
    countRefused: () => refused,
  };
}

/** The test with a smaller server (killed-delivery.check.ts) has SQLite alone. */
const ENGINES = [
  { engine: 'PostgreSQL', make: onPostgres },
  { engine: 'SQLite', make: async () => aDatabasePath() },
].slice(0, process.env['KILL_ROUNDS'] === undefined ? 1 : 2);

test.each(ENGINES)(
  `every mail comes to a Postfix at least once over ${KILLS} kills while it puts a third of them off, on $engine`,
  TIMEOUT,
  async ({ make }) => {
    const database = await make();
    const { port: target, config, received } = await aMailServer();
    const { port: policyPort, countTries, countRefused } = await aPolicy();
    const port = await findFreePort();
    const postfix = await aPostfix(target, { port, policyPort });
    await postfix.start();
    await killSenders({
      database,
      kills: KILLS,
      server: { ...config, port },
      received,
      countTries,
    });
    expect(countRefused()).toBeGreaterThan(countTries() / 5);
    expect(postfix.list('bounced')).toEqual([]);
  },
);
