import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';

test('the first person of an account who is not disabled becomes its owner, and the audit keeps its entries', async () => {
  const connection = new Database(':memory:');
  const db = new Kysely<never>({ dialect: new SqliteDialect({ database: connection }) });
  const names = Object.keys(MIGRATIONS);
  const at = names.indexOf('0014-people');
  for (const name of names.slice(0, at)) await MIGRATIONS[name]?.up(db);
  const person = connection.prepare(
    'insert into person (id, account_id, email, email_key, disabled, created_at) values (:id, :account, :id, :id, :disabled, :at)',
  );
  connection.exec(`
    insert into account (id, name, plan, created_at, domains_version, alerts_version)
      values ('a', 'A', 'pro', 't', 'v', 'v'), ('b', 'B', 'pro', 't', 'v', 'v');
    insert into audit (account_id, at, actor, action, key_name, key_prefix, address)
      values ('a', 't', 'operator', 'disabled_by_plan', 'nightly', 'plb_live_abcd', null)`);
  person.run({ id: 'gone', account: 'a', disabled: 1, at: '1' });
  person.run({ id: 'second', account: 'a', disabled: 0, at: '2' });
  person.run({ id: 'third', account: 'a', disabled: 0, at: '3' });
  person.run({ id: 'only', account: 'b', disabled: 1, at: '1' });
  connection.exec(`
    insert into session (id, person_id, sha256, created_at, last_seen_at, expires_at, address, user_agent)
      values ('s', 'third', 'x', '5', '6', '7', '', ''), ('t', 'second', 'y', '4', '6', '7', '', '');
    update person set password_hash = 'h' where id = 'second'`);
  for (const name of names.slice(at)) await MIGRATIONS[name]?.up(db);
  const people = connection.prepare('select id, role, last_signed_in_at from person order by id');
  expect(people.raw().all()).toEqual([
    ['gone', 'member', null],
    ['only', 'owner', null],
    ['second', 'owner', '4'],
    ['third', 'member', '5'],
  ]);
  const sessions = connection.prepare('select id, single_sign_on from session order by id');
  // Who has no password signed in at the OpenID provider.
  expect(sessions.raw().all()).toEqual([
    ['s', 1],
    ['t', 0],
  ]);
  const audit = connection.prepare('select action, subject, detail from audit').all();
  expect(audit).toEqual([
    { action: 'key_disabled_by_plan', subject: 'nightly', detail: 'plb_live_abcd' },
  ]);
  await db.destroy();
});
