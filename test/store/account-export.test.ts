import { describe, expect, test } from 'vitest';
import { operator } from '../../src/store/events/audit.ts';
import { exportAccount, exportLines } from '../../src/store/leaving/account-export.ts';
import { deleteAccount } from '../../src/store/leaving/deleted-accounts.ts';
import type { Tables } from '../../src/store/tables.ts';
import { aDomain, anAccount, aReport, receive } from '../support/builders.ts';
import { aFullAccount, listTables, OF_NOBODY } from '../support/full-account.ts';
import { aStore } from '../support/store.ts';

/** Secrets, which are of use here only. */
const SECRET = new Set<keyof Tables>([
  ...(['session', 'one_time_link', 'pending_sign_in', 'second_factor', 'recovery_code'] as const),
]);

/** Counted from the other rows, and the order in which they changed. */
const COUNTED = new Set<keyof Tables>(['domain_day', 'list_day', 'change']);

const SECRET_COLUMNS = [
  ...['sha256', 'password_hash', 'sealed_secret', 'old_sealed_secret', 'link_key'],
];
/** Of what came in: no secret. */
const HASHED = ['inbox_mail'];

/** They tell domains that another account has from those that nobody has. */
const OF_OTHERS = ['counts', 'outcomes'];

/** As text, so that it can be compared; packed records are compared elsewhere. */
function toText(table: string, row: object): string {
  const columns = Object.entries(row).filter(
    ([name]) =>
      !OF_OTHERS.includes(name) &&
      (HASHED.includes(table) || !SECRET_COLUMNS.includes(name)) &&
      !(name === 'content' && ['report', 'conflict'].includes(table)),
  );
  return JSON.stringify(
    columns
      .map(([name, value]) => [
        name,
        value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
      ])
      .sort(),
  );
}

describe('an exported account', () => {
  test('has every row of every table that is the account’s, and none of others', async () => {
    const { db, reader } = await aStore();
    const accountId = await aFullAccount(db);
    const wanted: Record<string, string[]> = {};
    for (const table of await listTables(db)) {
      if (OF_NOBODY.has(table) || SECRET.has(table) || COUNTED.has(table)) continue;
      const rows = await db.selectFrom(table).selectAll().execute();
      wanted[table] = rows.map((row) => toText(table, row)).sort();
      expect(rows.length, table).toBeGreaterThan(0);
    }
    await aFullAccount(db);

    const lines: string[] = [];
    const count = await exportAccount(reader, accountId, (line) => lines.push(line));

    const found: Record<string, string[]> = {};
    for (const { table, ...row } of lines.map((line) => JSON.parse(line)))
      found[table] = [...(found[table] ?? []), toText(table, row)].sort();
    expect(found).toEqual(wanted);
    expect(lines).toHaveLength(count);
    const secrets = lines
      .map((line) => JSON.parse(line))
      .filter(({ table }) => !HASHED.includes(table))
      .flatMap((row) => Object.keys(row).filter((name) => SECRET_COLUMNS.includes(name)));
    expect(secrets).toEqual([]);
    expect(lines.join()).not.toMatch(/"(?:counts|outcomes)":/);
  });

  test('has the records of reports as JSON', async () => {
    const { db, reader } = await aStore();
    const { id: accountId } = await anAccount(db);
    const { name: domain } = await aDomain(db, accountId);
    await receive(db, [aReport({ domain })]);
    const rows: Record<string, unknown>[] = [];
    await exportAccount(reader, accountId, (line) => rows.push(JSON.parse(line)));
    expect(rows.find(({ table }) => table === 'report')).toMatchObject({
      content: { policyPublished: { domain }, records: expect.any(Array) },
    });
  });

  test('is what the account had at one moment, although others write', async () => {
    const { db, reader } = await aStore();
    const { id: accountId } = await anAccount(db);
    const { name: domain } = await aDomain(db, accountId);
    await receive(
      db,
      Array.from({ length: 35 }, (_, i) => aReport({ domain, reportId: `${i}` })),
    );
    const written: Promise<unknown>[] = [];
    let reports = 0;
    await exportAccount(reader, accountId, (line) => {
      if (JSON.parse(line).table !== 'report') return;
      if (++reports === 5) written.push(receive(db, [aReport({ domain, reportId: 'late' })]));
    });
    await Promise.all(written);
    expect(reports).toBe(35);
  });

  test('has no last line when the account is deleted meanwhile', async () => {
    const { db, reader } = await aStore();
    const accountId = await aFullAccount(db);
    const pieces = exportLines(reader, accountId, 1);
    expect((await pieces.next()).value).toContain('"plumbline account"');
    await deleteAccount(db, accountId, { by: operator(), keepsReports: false });
    await expect(Array.fromAsync(pieces)).rejects.toThrow('The account was deleted meanwhile.');
  });
});
