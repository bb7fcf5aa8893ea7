import { beforeEach, describe, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/domain/instant.ts';
import type { Api } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  aKey,
  aRecord,
  aReportOf,
  aSignature,
  receive,
} from '../support/builders.ts';
import { type Browser, onTestDay, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let browser: Browser;

const TO: Day = '2026-03-14';

beforeEach(async () => {
  ({ api, accountId, browser } = await onTestDay());
});

const read = async (query = '') => (await browser.get(`/settings/what-changed${query}`)).text;

/** Each day has a report of the own server; others send on some days, counted back from the newest. */
async function fill(domain = 'example.com') {
  const sends = (ip: string, count: number, passes: boolean) =>
    aRecord({
      ...{ sourceIp: ip, count, headerFrom: domain },
      ...(passes && { dkim: 'pass', spf: 'pass' }),
      signatures: passes ? [aSignature({ domain, result: 'pass' })] : [],
    });
  const reports = Array.from({ length: 80 }, (_, i) => {
    const policy = { p: i < 4 ? 'quarantine' : 'none' } as const;
    const records = [
      sends('192.0.2.1', 30, true),
      ...(i > 20 ? [sends('192.0.2.50', 20, true)] : []),
      ...(i < 3 ? [sends('192.0.2.77', 40, true)] : []),
      ...(i < 3 ? [sends('203.0.113.9', 50, false)] : []),
    ];
    const begin = `${addDays(TO, -i)}T00:00:00Z`;
    return aReportOf(records, { domain, begin, policy, reportId: `${domain} ${i}` });
  });
  await receive(api.db, reports);
}

describe('the page of what changed', () => {
  test('lists senders and policies of the week, with links, and not those of a month before', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await fill();
    const text = await read();
    const page = toReadable(text);
    expect(page).toContain('8 – 14 Mar 2026');
    expect(page).toMatch(/192\.0\.2\.77.*New 120 messages, 0 failed example\.com 12 Mar 2026/);
    expect(page).toMatch(/mailer\.example New, not recognised 150 messages, 150 failed/);
    expect(page).toMatch(/Policy Changed Policy: p=none.* → p=quarantine/);
    expect(page).not.toContain('192.0.2.1 ');
    expect(text).toContain(`/settings/domains/${id}/sources?days=90&amp;within=`);
    expect(toReadable(await read('?days=30'))).toMatch(
      /192\.0\.2\.50.*Stopped has sent nothing since/,
    );
  });

  test('counts who has sent for longer, and calls nobody a stranger who may be the owner’s', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    const fails = aRecord({ sourceIp: '198.51.100.9', count: 12, headerFrom: 'example.com' });
    const begins = [0, 1, 60].map((i) => `${addDays(TO, -i)}T00:00:00Z`);
    await receive(
      api.db,
      begins.map((begin) => aReportOf([fails], { begin, reportId: begin })),
    );
    expect(toReadable(await read())).toContain(
      'Not listed are senders that nothing shows to be yours. 24 messages of theirs failed in the name of 1 domain, most in that of example.com .',
    );
    expect(await read()).not.toContain('for the first time');
  });

  test('says that nothing changed, and has no line of other accounts', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    expect(toReadable(await read())).toContain('Nothing changed.');
    await aDomain(api.db, await aBareAccount(api.db), { name: 'other.example' });
    await fill('other.example');
    expect(await read('?days=30')).not.toContain('other.example');
  });

  test('has the same figures as the API, which gives them only when it is asked', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    await fill();
    const { key } = await aKey(api.db, accountId);
    const get = (query: string) => api.get(`/v1/external/overview${query}`, { key });
    const [plain, asked] = [await get(''), await get('?what_changed=true')];
    expect(plain.body.data[0]).not.toHaveProperty('what_changed');
    expect(plain.headers['etag']).not.toBe(asked.headers['etag']);
    const none = { failing_senders: 0, mended_senders: 0, new_reporters: 0, stopped_reporters: 0 };
    const counts = { ...none, new_senders: 1, unrecognised_senders: 1, policy_changes: 1 };
    const strangers = { stranger_sources: 0, stranger_messages: 0 };
    expect(asked.body.data[0].what_changed).toEqual([
      { days: 7, ...counts, stopped_senders: 0, ...strangers },
      { days: 30, ...counts, stopped_senders: 1, ...strangers },
    ]);
  });
});
