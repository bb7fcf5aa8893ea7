import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { aReport, receive } from '../support/builders.ts';
import { runOn } from '../support/postgres-stores.ts';
import { aDatabase } from '../support/store.ts';

/** Tables that are found by an id, a name or a hash, or belong to no domain: docs/scaling.md says why. */
const WHOLE = [
  ...[
    'account',
    'account_arrival',
    'api_key',
    'person',
    'session',
    'one_time_link',
    'audit',
    'domain',
    'domain_proposal',
  ],
  ...['second_factor', 'recovery_code', 'pending_sign_in'],
  ...['document', 'document_part', 'rejection', 'removed_payload', 'lease'],
  ...['inbox_mail', 'inbox_part', 'door_state'],
  ...['receiver', 'webhook', 'event', 'delivery', 'reporter'],
  ...['person_mail', 'mail_left_out', 'mail_server'],
];

/** The columns of each unique index, which every constraint that is unique has. */
const KEYS = `
  select indrelid::regclass::text as name, array(
    select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey)) as columns
  from pg_index
  where indisunique and indrelid in (
    select oid from pg_class where relnamespace = 'public'::regnamespace and relname not like 'kysely%')`;

/** Operators and pages find a report by it. The scripts that divide reports make it a key with more columns. */
const isKeyOfIds = ({ name, columns }: Readonly<Record<string, unknown>>) =>
  name === 'report' && `${columns}` === 'id';

test('every other key of a table of tenants has the domain or the list, and that of a report its begin', async () => {
  const all = await runOn(await aDatabase(), KEYS);
  expect(all.filter(isKeyOfIds)).toHaveLength(1);
  const keys = all.filter((key) => !isKeyOfIds(key));
  const divided = keys.filter(({ name }) => !WHOLE.includes(`${name}`));
  const names = new Set(divided.map(({ name }) => name));
  expect([...names].sort()).toEqual([
    ...['alert', 'alert_day', 'conflict', 'dns_record', 'domain_day'],
    'domain_receipt',
    ...['list_day', 'list_gap', 'list_point', 'report'],
    ...['source_mark', 'source_name'],
  ]);
  const lacks = (columns: unknown, wanted: readonly string[]) =>
    !wanted.some((column) => (columns as string[]).includes(column));
  expect(divided.filter(({ columns }) => lacks(columns, ['domain_id', 'list_id']))).toEqual([]);
  const ofReports = divided.filter(({ name }) => name === 'report' || name === 'conflict');
  expect(ofReports).toHaveLength(3);
  expect(ofReports.filter(({ columns }) => lacks(columns, ['begin_date']))).toEqual([]);
});

test('conflicts refer to their report', async () => {
  const url = await aDatabase();
  const { db, close } = await openStore(url);
  await receive(
    db,
    ['a', 'b'].map((payload) => aReport({ reportId: 'one', payload })),
  );
  await close();
  await expect(runOn(url, 'delete from report where seq = 1')).rejects.toThrow(/conflict_report/);
});

test.each(['report', 'conflict'] as const)(
  'a number of a %s that was given before is an error: nothing is lost',
  async (table) => {
    const url = await aDatabase();
    const store = await openStore(url);
    onTestFinished(() => store.close());
    const { db } = store;
    const aConflict = (payload: string) => aReport({ reportId: 'one', payload });
    expect(await receive(db, ['a', 'b'].map(aConflict))).toEqual(['unclaimed', 'conflict']);
    await runOn(url, `select setval(pg_get_serial_sequence('${table}', 'seq'), 1, false)`);
    const next = table === 'report' ? aReport({ reportId: 'two' }) : aConflict('c');
    await expect(receive(db, [next])).rejects.toThrow(/no result|its number exists/);
    await runOn(url, `select setval(pg_get_serial_sequence('${table}', 'seq'), 9)`);
    expect(await receive(db, [next])).toEqual([table === 'report' ? 'unclaimed' : 'conflict']);
  },
);
