import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import type { Instant } from '../../src/domain/instant.ts';
import type { MailServer } from '../../src/notify/mail/mailer.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { updateMailServer } from '../../src/store/people/person-mail.ts';
import { aBareAccount, aDomain, anAlert, resolveAlert } from '../support/builders.ts';
import { listFields, type Received } from '../support/mail-server.ts';
import { countWaiting, forgetWaits } from '../support/outbox.ts';
import { aPerson } from '../support/visitor.ts';
import type { Delivering } from './delivering-process.ts';

/** Each fires and resolves, so a person gets eight mails: ten would be one mail with a list. */
const ALERTS = 4;
/** To so many people a process delivers at the same time: each may have got a mail that was not recorded. */
const AT_ONCE = 32;

const PATIENCE = { timeout: 120_000, interval: 50 };

interface Trial {
  readonly database: string;
  readonly kills: number;
  readonly server: MailServer;
  /** How many mails the server was given, also those that it did not take. */
  readonly countTries: () => number;
  /** Those that it took, in the end. */
  readonly received: readonly Received[];
}

/**
 * Kills the process that sends while 16 alerts for each kill fire and resolve, each in an account with a person of its own.
 * Every mail comes at least once, and none that nobody wrote. Returns how many came twice.
 */
export async function killSenders({ database, kills: wanted, server, ...at }: Trial) {
  const { countTries, received } = at;
  const deliveries = 4 * wanted * ALERTS * 2;
  const { db, close } = await openStore(database);
  onTestFinished(close);
  await updateMailServer(db, server.host);
  const accounts: string[] = [];
  for (let i = 0; i < 4 * wanted; i += 1) {
    const accountId = await aBareAccount(db);
    accounts.push(accountId);
    await aPerson({ db }, accountId);
  }
  await db.write((tx) => tx.updateTable('person_mail').set({ alerts: 'at_once' }).execute());
  await db.write((tx) =>
    tx
      .updateTable('receiver')
      .set({ event_types: 'mail.alert_fired mail.alert_resolved' })
      .execute(),
  );
  let isFiring = true;
  const firing = fireAll(db, accounts).finally(() => {
    isFiring = false;
  });
  const isWaiting = async () => isFiring || (await countWaiting(db)) > 0;
  const begin = () => {
    const given: Delivering = { database, server };
    const script = new URL('./delivering-process.ts', import.meta.url);
    const child = fork(script, [JSON.stringify(given)], { execArgv: ['--no-warnings'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  let kills = 0;
  for (; kills < wanted && (await isWaiting()); kills += 1) {
    await forgetWaits(db);
    const child = begin();
    const until = countTries() + 1 + Math.floor(Math.random() * ((2 * deliveries) / wanted));
    const isDone = async () => {
      if (countTries() >= until || !(await isWaiting())) return true;
      // What failed waits for minutes: it is tried again at once.
      if (await isIdle(db)) await forgetWaits(db);
      return false;
    };
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

  const toMail = ({ to, raw }: Received) => {
    const field = listFields(raw).find((one) => /^Message-ID: /i.test(one));
    return `${to} ${/<(.*)@/.exec(field ?? '')?.[1]}`;
  };
  // A server with a queue passes its last mails on a little later.
  await expect.poll(() => new Set(received.map(toMail)).size, PATIENCE).toBe(deliveries);
  const told = await db
    .selectFrom('alert')
    .innerJoin('person', 'person.account_id', 'alert.account_id')
    .select(['alert.id as alert', 'person.id as person', 'email'])
    .execute();
  const mails = told.flatMap(({ alert, person, email }) =>
    ['fired', 'resolved'].map((kind) => `${email} ${kind}.${alert}.${person}`),
  );
  expect(new Set(received.map(toMail))).toEqual(new Set(mails));
  const twice = received.length - deliveries;
  expect(twice).toBeLessThanOrEqual(kills * AT_ONCE);
  process.stdout.write(`${kills} kills: ${deliveries} mails, ${twice} of them came twice\n`);
}

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
