import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { connect } from '../../src/store/engine/postgres/connect.ts';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';
import { aReport, receive } from '../support/builders.ts';
import { copyDatabase, runOn } from '../support/postgres-stores.ts';
import { aDatabase } from '../support/store.ts';

/** Tables that are found by an id, a name or a hash, or belong to no domain: docs/scaling.md says why. */
const WHOLE = [
  ...['account', 'api_key', 'person', 'session', 'one_time_link', 'audit', 'domain'],
  ...['second_factor', 'recovery_code', 'pending_sign_in'],
  ...['source', 'source_part', 'rejection', 'removed_payload', 'lease'],
  ...['inbox_mail', 'inbox_part', 'door_state'],
];

/** The first column of each unique index, which every constraint that is unique has. */
const FIRST_COLUMNS = `
  select indrelid::regclass::text as name, attname as first
  from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
  where indisunique and indrelid in (
    select oid from pg_class where relnamespace = 'public'::regnamespace and relname not like 'kysely%')`;

test('every key of a table of tenants begins with the domain or the list', async () => {
  const keys = await runOn(await aDatabase(), FIRST_COLUMNS);
  const divided = keys.filter(({ name }) => !WHOLE.includes(`${name}`));
  const names = new Set(divided.map(({ name }) => name));
  expect([...names].sort()).toEqual([
    ...['alert', 'conflict', 'dns_record', 'domain_day', 'domain_receipt', 'domain_source_ip'],
    ...['list_day', 'list_gap', 'list_point', 'report'],
    ...['source_mark', 'source_name', 'source_period', 'source_sum', 'source_text'],
    'undetailed_report',
  ]);
  const others = divided.filter(({ first }) => first !== 'domain_id' && first !== 'list_id');
  expect(others).toEqual([]);
});

test('conflicts that an older version stored get the domain of their report, and still refer to it', async () => {
  const url = await copyDatabase('template0');
  const { db, close } = connect(url, { maxConnections: 1, timeoutMs: 0, connectTimeoutMs: 5_000 });
  const names = Object.keys(MIGRATIONS);
  const at = names.indexOf('0011-keys');
  for (const name of names.slice(0, at)) await MIGRATIONS[name]?.up(db as never);
  await runOn(url, FORMER_ROWS);
  for (const name of names.slice(at)) await MIGRATIONS[name]?.up(db as never);
  await close();
  const conflicts = await runOn(url, 'select seq::int, domain_id from conflict order by seq');
  expect(conflicts).toEqual([
    { seq: 1, domain_id: 'two' },
    { seq: 2, domain_id: 'one' },
  ]);
  await expect(runOn(url, 'delete from report where seq = 1')).rejects.toThrow(/conflict_report/);
});

const FORMER_ROWS = `
  insert into domain (id, name, status, created_at, reports_version, alerts_version) values
    ('one', 'one.example', 'active', 't', 'v', 'v'), ('two', 'two.example', 'active', 't', 'v', 'v');
  insert into source (sha256, name, received_at, byte_count, encoding, content)
    values ('x', 's', 't', 0, 'as_is', '');
  insert into report (id, domain_id, source_seq, received_at, begin_date, end_date, record_count,
    total_messages, aligned_messages, payload_sha256, warnings)
    select d, d, 1, 't', 'b', 'e', 0, 0, 0, 'p', '[]' from unnest(array['one', 'two']) d;
  insert into conflict (report_seq, source_seq, payload_sha256, received_at)
    values (2, 1, 'q', 't'), (1, 1, 'q', 't');`;

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
