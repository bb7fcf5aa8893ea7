import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startMailDoors } from '../../src/commands/jobs/mail-doors.ts';
import { noteDoor } from '../../src/store/inbox/doors.ts';
import { readInboxOverview } from '../../src/store/inbox/overview.ts';
import { aStore } from '../support/store.ts';

/** A port of the loopback address that nobody listens on. */
async function aFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Store = Awaited<ReturnType<typeof aStore>>;

/** The doors of one process, and its log. */
function openDoors(store: Store, port: number) {
  const lines: string[] = [];
  const note = (_about: unknown, text = '') => void lines.push(text);
  const smtp = { port, host: '127.0.0.1', name: 'mx.plumbline.example', recipients: [] };
  const doors = startMailDoors({ smtp } as never, {
    ...{ store: store as never, noteMs: 20, leases: {} as never },
    ...{ deliver: async () => {}, log: { info: note, error: note, debug: note } as never },
  });
  onTestFinished(doors.stop);
  return lines;
}

const untilSaid = async (lines: string[], text: string) => {
  while (!lines.some((line) => line.includes(text))) await sleep(5);
};

test('a second process with the same SMTP port does not make the open door fail', async () => {
  const store = await aStore();
  const port = await aFreePort();
  await untilSaid(openDoors(store, port), 'the door is open');
  await untilSaid(openDoors(store, port), 'the address is in use');
  const rows = await store.db.selectFrom('door_state').select('last_error_at').execute();
  expect(rows).toEqual([{ last_error_at: null }]);
});

test('an open SMTP door notes again and again that it works', async () => {
  const store = await aStore();
  await untilSaid(openDoors(store, await aFreePort()), 'the door is open');
  await noteDoor(store.db, 'smtp', 'Another process had no certificate.');
  const isFailing = async () => (await readInboxOverview(store.db)).doors[0]?.failsSince !== null;
  while (await isFailing()) await sleep(5);
});
