import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSource } from '../../src/judging/source.ts';
import { readSources, type SourceQuery } from '../../src/judging/source-list.ts';
import { findDataDays } from '../../src/store/domains/domain-reports.ts';
import type { Store } from '../../src/store/engine/store.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReport,
  aReportOf,
  aSignature,
  receive,
} from '../support/builders.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
let scope: { accountId: string; domainId: string };

const PASSED = { spf: 'pass', dkim: 'pass', signatures: [aSignature()] } as const;
const MAILER = '192.0.2.1';
const FORGER = '203.0.113.9';

const ofDay = (day: string, orgName = 'Mailbox Provider') => ({
  begin: `${day}T00:00:00Z`,
  orgName,
});

beforeAll(async () => {
  store = await openTestStore();
  const { db } = store;
  const accountId = await aBareAccount(db);
  scope = { accountId, domainId: (await aDomain(db, accountId, { name: 'example.com' })).id };
  await receive(db, [
    aReportOf(
      [
        aRecord({ sourceIp: MAILER, count: 40, ...PASSED }),
        aRecord({ sourceIp: MAILER, count: 2, dkim: 'pass', signatures: [aSignature()] }),
        aRecord({
          sourceIp: FORGER,
          count: 7,
          headerFrom: 'Login.Example.COM',
          disposition: 'reject',
        }),
      ],
      ofDay('2026-03-10'),
    ),
    aReportOf([aRecord({ sourceIp: MAILER, count: 5, ...PASSED })], ofDay('2026-03-12', 'Other')),
    aReportOf([aRecord({ sourceIp: '2001:db8::1', count: 3, spf: 'pass' })], {
      ...ofDay('2026-03-12'),
      ...{ orgName: null, email: 'postmaster@alpine.example' },
    }),
    // Messages of nobody: a record without an address.
    aReport({ ...ofDay('2026-03-12'), totalMessages: 11, alignedMessages: 0 }),
    aReportOf([aRecord({ sourceIp: MAILER, count: 100 })], ofDay('2026-02-01')),
    aReportOf([aRecord({ sourceIp: MAILER, count: 1_000 })], {
      ...ofDay('2026-03-11'),
      domain: 'other.example',
    }),
  ]);
});

afterAll(() => store.close());

const range = { from: '2026-03-10', to: '2026-03-12' };
const TODAY = '2026-03-14';
const list = async (wanted: Partial<Omit<SourceQuery, 'today'>> = {}) => {
  const asked = { scope, range, today: TODAY, limit: 10, offset: 0, ...wanted };
  const { counted, ...found } = await readSources(store.reader, asked);
  return found;
};

describe('the sources of a domain in a range', () => {
  test('are listed by failed messages, then by messages, with what was aligned and their days', async () => {
    expect(await list()).toEqual({
      version: expect.any(String),
      domain: 'example.com',
      reporters: 'established',
      aside: { reports: 0, messages: 0, unproven: 0 },
      days: 2,
      total: 3,
      messages: 68,
      aligned: 50,
      unlisted: 11,
      marks: new Map(),
      sources: [
        row(FORGER, { messages: 7, days: ['2026-03-10', '2026-03-10'] }),
        row(MAILER, {
          messages: 47,
          aligned: 47,
          dkim: 47,
          spf: 45,
          days: ['2026-03-10', '2026-03-12'],
        }),
        row('2001:db8::1', { messages: 3, aligned: 3, spf: 3, days: ['2026-03-12', '2026-03-12'] }),
      ],
    });
  });

  test('have what reporters said of them, of a page alone', async () => {
    const year = { from: '2026-01-01', to: '2026-12-31' };
    const order = 'messages' as const;
    const { sources } = await list({ range: year, order, limit: 1 });
    const said = sources.map(({ patterns }) => [...patterns.values()].reduce((a, b) => a + b, 0));
    expect(said).toEqual([147]);
    expect(sources.map(({ messages }) => messages)).toEqual(said);
  });

  test('are listed in pages that have the same totals, also beyond the last one', async () => {
    const pages = [];
    for (const offset of [0, 1, 2, 3]) pages.push(await list({ limit: 1, offset }));
    expect(pages.map(({ total, messages, unlisted }) => [total, messages, unlisted])).toEqual(
      Array(4).fill([3, 68, 11]),
    );
    const addresses = pages.map(({ sources }) => sources.map(({ address }) => address));
    expect(addresses).toEqual([[FORGER], [MAILER], ['2001:db8::1'], []]);
  });

  test('are none in a range without reports', async () => {
    const empty = { range: { from: '2020-01-01', to: '2020-12-31' } };
    expect(await list(empty)).toEqual({
      version: expect.any(String),
      domain: 'example.com',
      reporters: 'established',
      aside: { reports: 0, messages: 0, unproven: 0 },
      days: 0,
      total: 0,
      messages: 0,
      aligned: 0,
      sources: [],
      unlisted: 0,
      marks: new Map(),
    });
  });
});

describe('one source in a range', () => {
  const read = async (address: string) => {
    const { counted, ...found } = await readSource(store.reader, {
      scope,
      address,
      range,
      today: TODAY,
    });
    return found;
  };

  test('has its days, what reporters said of its messages, and who they are', async () => {
    const { days, results, otherMessages, reporters } = await read(MAILER);
    expect(days).toEqual([
      { day: '2026-03-10', messages: 42, aligned: 42 },
      { day: '2026-03-12', messages: 5, aligned: 5 },
    ]);
    expect(otherMessages).toBe(0);
    expect(results.map(({ messages }) => messages)).toEqual([45, 2]);
    expect(results[1]).toEqual({
      headerFrom: 'example.com',
      spf: { domain: 'bounces.mailer.example', result: 'pass', isAligned: false },
      dkim: [{ domain: 'example.com', selector: 'one', result: 'pass' }],
      isDkimAligned: true,
      isForwarded: false,
      disposition: 'none',
      messages: 2,
      aligned: 2,
    });
    expect(reporters).toEqual([
      { name: 'Mailbox Provider', messages: 42, aligned: 42 },
      { name: 'Other', messages: 5, aligned: 5 },
    ]);
  });

  test('has a reporter without a name by the domain of its e-mail address', async () => {
    const { reporters } = await read('2001:db8::1');
    expect(reporters).toEqual([{ name: 'alpine.example', messages: 3, aligned: 3 }]);
  });

  test('has no aligned messages in a pattern that failed, and names in lower case', async () => {
    const { results } = await read(FORGER);
    expect(results).toMatchObject([
      {
        headerFrom: 'login.example.com',
        disposition: 'reject',
        messages: 7,
        aligned: 0,
        dkim: [],
      },
    ]);
  });

  test('that sent nothing has no days', async () => {
    const nothing = { days: [], cutDays: 1, results: [], otherMessages: 0, reporters: [] };
    for (const address of ['198.51.100.1', 'no address', ''])
      expect(await read(address)).toEqual(nothing);
  });
});

test('the days that have data are those of the reports', async () => {
  expect(await findDataDays(store.reader, scope, TODAY)).toEqual({
    oldest: '2026-02-01',
    newest: '2026-03-12',
  });
});

test('another account reads nothing: the domain is not found', async () => {
  const other = { ...scope, accountId: await aBareAccount(store.db) };
  const notFound = { code: 'not_found' };
  const { reader } = store;
  const wanted = { scope: other, range, today: TODAY, limit: 1, offset: 0 };
  await expect(readSources(reader, wanted)).rejects.toMatchObject(notFound);
  const one = { scope: other, address: MAILER, range, today: TODAY };
  await expect(readSource(reader, one)).rejects.toMatchObject(notFound);
  expect(await findDataDays(reader, other, TODAY)).toEqual({ oldest: null, newest: null });
});

interface Expected {
  readonly messages: number;
  readonly aligned?: number;
  readonly dkim?: number;
  readonly spf?: number;
  readonly days: readonly [string, string];
}

function row(address: string, { messages, aligned = 0, dkim = 0, spf = 0, days }: Expected) {
  const [firstDay, lastDay] = days;
  const counts = { messages, aligned, dkimAligned: dkim, spfAligned: spf };
  return { address, ...counts, firstDay, lastDay, patterns: expect.any(Map) };
}
