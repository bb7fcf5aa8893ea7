import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { Instant } from '../../src/domain/instant.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { updateMailServer } from '../../src/store/people/person-mail.ts';
import { aBareAccount, aDomain, anAlert, resolveAlert } from '../support/builders.ts';
import { aMailServer, listFields, refusal } from '../support/mail-server.ts';
import { countWaiting, forgetWaits } from '../support/outbox.ts';
import { aDatabasePath } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';
import type { Delivering } from './delivering-process.ts';

const KILLS = Number(process.env['KILL_ROUNDS'] ?? 10);
/** Each has an account. With `KILL_ROUNDS=100`, 2,000 alerts fire and resolve. */
const PEOPLE = 4 * KILLS;
/** Each fires and resolves, so a person gets ten mails: more would be one mail with a list. */
const ALERTS = 5;
const DELIVERIES = PEOPLE * ALERTS * 2;
/** To so many people a process delivers at the same time: each may have got a mail that was not recorded. */
const AT_ONCE = 32;

const PATIENCE = { timeout: 120_000, interval: 50 };
const TIMEOUT = { timeout: Math.max(300_000, KILLS * 15_000) };

test(
  `every mail comes at least once, and none that nobody wrote, over ${KILLS} kills while a third of all tries fail`,
  TIMEOUT,
  async () => {
    const database = aDatabasePath();
    const { db, close } = await openStore(database);
    onTestFinished(close);
    let tries = 0;
    const { config, received } = await aMailServer({
      answer: () => (Math.random() < 1 / 3 ? refusal(451, 'Later') : null),
      answerTo: () => {
        tries += 1;
        return null;
      },
    });
    await updateMailServer(db, config.host);
    const accounts: string[] = [];
    const people: string[] = [];
    for (let i = 0; i < PEOPLE; i += 1) {
      const accountId = await aBareAccount(db);
      accounts.push(accountId);
      people.push((await aPerson({ db }, accountId)).email);
    }
    await db.write((tx) => tx.updateTable('person_mail').set({ alerts: 'at_once' }).execute());
    await db.write((tx) =>
      tx.updateTable('receiver').set({ event_types: 'alert.fired alert.resolved' }).execute(),
    );
    let isFiring = true;
    const firing = fireAll(db, accounts).finally(() => {
      isFiring = false;
    });
    const isWaiting = async () => isFiring || (await countWaiting(db)) > 0;
    const begin = () => {
      const given: Delivering = { database, server: config };
      const script = new URL('./delivering-process.ts', import.meta.url);
      const child = fork(script, [JSON.stringify(given)], { execArgv: ['--no-warnings'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    let kills = 0;
    for (; kills < KILLS && (await isWaiting()); kills += 1) {
      await forgetWaits(db);
      const child = begin();
      const until = tries + 1 + Math.floor(Math.random() * ((2 * DELIVERIES) / KILLS));
      const isDone = async () => tries >= until || !(await isWaiting());
      await expect.poll(isDone, PATIENCE).toBe(true);
      expect(child.exitCode).toBeNull();
      await kill(child);
    }
    await firing;
    while (await isWaiting()) {
      await forgetWaits(db);
      const child = begin();
      await expect.poll(() => isIdle(db), PATIENCE).toBe(true);
      await kill(child);
    }

    const mails = received.map(({ to, raw }) => {
      const id = listFields(raw).find((field) => field.startsWith('Message-ID'));
      return `${to} ${id}`;
    });
    const distinct = new Set(mails);
    expect(distinct.size).toBe(DELIVERIES);
    expect(new Set(received.flatMap(({ to }) => to))).toEqual(new Set(people));
    const twice = mails.length - distinct.size;
    expect(twice).toBeLessThanOrEqual(kills * AT_ONCE);
    process.stdout.write(`${kills} kills: ${DELIVERIES} mails, ${twice} of them came twice\n`);
  },
);

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Whether all that is left waits for its next try. */
async function isIdle(db: Parameters<typeof anAlert>[0]): Promise<boolean> {
  const now = Date.now();
  const busy = db
    .selectFrom('receiver')
    .select('id')
    .where('due_at_ms', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('claimed_by', 'is not', null),
        eb.and([eb('due_at_ms', '<=', now), eb('free_at_ms', '<=', now)]),
      ]),
    );
  return (await busy.execute()).length === 0;
}

async function fireAll(
  db: Parameters<typeof anAlert>[0],
  accounts: readonly string[],
): Promise<void> {
  const at: Instant = new Date().toISOString().replace(/\.\d+/, '');
  for (const accountId of [...Array(ALERTS)].flatMap(() => accounts)) {
    const { id: domainId } = await aDomain(db, accountId);
    const id = await anAlert(db, { accountId, domainId }, { firedAt: at });
    await resolveAlert(db, id, at);
  }
}
