import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { parseIpAddress } from '../../src/domain/ip-address.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { parseItems, readPage } from '../../src/store/lists/page.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { runOn } from '../support/postgres-stores.ts';
import { aDatabase } from '../support/store.ts';

test('instants and days are the same texts as on SQLite, whatever the time zone of a connection was', async () => {
  const theirs = encodeURIComponent('-c TimeZone=Asia/Kolkata -c DateStyle=German');
  const store = await openStore(`${await aDatabase()}?options=${theirs}`);
  onTestFinished(() => store.close());
  const { db, reader } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId, name: domain } = await aDomain(db, accountId);
  const [begin, end] = ['1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z'];
  await receive(db, [aReport({ domain, begin, end })]);
  const report = await db.selectFrom('report').selectAll().executeTakeFirstOrThrow();
  expect(report).toMatchObject({ begin_date: begin, end_date: end, received_at: NOW });
  const page = await readPage(reader, reportsOf({ accountId, domainId }), { limit: 1, offset: 0 });
  expect(parseItems(page)).toMatchObject([{ begin_date: begin, end_date: end }]);
  const days = await db.selectFrom('domain_day').select('day').execute();
  expect(days).toEqual([{ day: '1970-01-01' }]);
});

const group = fc.constantFrom(0, 0, 0, 1, 0x64, 0x0102, 0xff9b, 0xffff);
const address = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => {
  const text = groups.map((value) => value.toString(16)).join(':');
  return parseIpAddress(text) as string;
});

test('an address has one text: that of the program, which PostgreSQL gives back', async () => {
  const url = await aDatabase();
  const some = fc.sample(address, 5_000);
  const values = ['::', '::1.2.3.4', '192.0.2.1', '0.0.0.0', ...some];
  const rows = await runOn(
    url,
    `select text, address, to_json(address)::text as json from (
      select text, text::inet as address from json_array_elements_text('${JSON.stringify(values)}') as text) as made`,
  );
  for (const { text, address, json } of rows)
    expect([address, json]).toEqual([text, JSON.stringify(text)]);
});
