import { beforeEach, describe, expect, test, vi } from 'vitest';
import { updateDomainStatus } from '../../src/store/accounts/domains.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount, aDomain, anAlert, aReport, NOW, receive } from '../support/builders.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let browser: Browser;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date('2026-03-15T12:00:00Z'));
  api = await serveApi();
  accountId = await aBareAccount(api.db);
  ({ browser } = await aVisitor(api, accountId));
  return () => void vi.useRealTimers();
});

const read = async (path: string) => toReadable((await browser.get(path)).text);
const day = (begin: string, totalMessages: number, alignedMessages: number) =>
  aReport({ begin: `${begin}T00:00:00Z`, totalMessages, alignedMessages });

describe('the overview', () => {
  test('of an account without domains says what to do', async () => {
    const text = await read('/settings/overview');
    expect(text).toContain('No domain yet');
    expect(text).toContain('No alert is open');
  });

  test('lists active domains with their last report and thirty days of pass rate', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    await aDomain(api.db, accountId, { name: 'silent.example' });
    const paused = await aDomain(api.db, accountId, { name: 'paused.example' });
    await updateDomainStatus(api.db, paused.id, 'paused');
    await receive(api.db, [
      day('2026-03-14', 90, 80),
      day('2026-02-14', 10, 0),
      // One day too old for the chart.
      day('2026-02-13', 1000, 0),
    ]);
    const { text } = await browser.get('/settings/overview');
    expect(toReadable(text)).toMatch(/example\.com 80\.0% 7 hours ago silent\.example – none yet/);
    expect(text).not.toContain('paused.example');
    expect(text).toContain('aria-label="Pass rate of example.com, 30 days: 80.0%"');
    expect(text.match(/class="none"/g)).toHaveLength(28 + 30);
    expect(text).toContain('title="15 Mar 2026, 04:12:09 UTC"');
  });

  test('a rate is rounded down, never up to 100%', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-03-14', 100_000, 99_999)]);
    expect(await read('/settings/overview')).toContain('example.com 99.9%');
  });

  test('open alerts come first, and resolved ones are not listed', async () => {
    const owner = { accountId, domainId: (await aDomain(api.db, accountId)).id };
    await anAlert(api.db, owner, { resolvedAt: NOW });
    expect(await read('/settings/overview')).toContain('No alert is open');
    await anAlert(api.db, owner);
    const text = await read('/settings/overview');
    expect(text).toContain('1 open alert');
    expect(text.indexOf('1 open alert')).toBeLessThan(text.indexOf('Domains'));
  });

  test('many domains are shown page by page, each once', async () => {
    for (let i = 0; i < 30; i++) await aDomain(api.db, accountId);
    const pages = [
      await browser.get('/settings/overview'),
      await browser.get('/settings/overview?page=2'),
    ];
    const ids = pages.flatMap(({ text }) => [
      ...text.matchAll(/href="\/settings\/domains\/([0-9a-f-]{36})"/g),
    ]);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(30);
    expect(ids).toHaveLength(30);
    expect(await read('/settings/overview?page=2')).toContain('Page 2 of 2');
    for (const page of ['0', '-1', 'x', '99999999999999999999']) {
      expect((await browser.get(`/settings/overview?page=${page}`)).status).toBe(200);
    }
  });
});

describe('a domain’s page', () => {
  test('has charts of its days, and the same as a table', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-03-13', 50, 50), day('2026-03-14', 100, 25)]);
    const { text } = await browser.get(`/settings/domains/${id}`);
    expect(toReadable(text)).toContain('50.0% of 150 messages passed DMARC');
    expect(toReadable(text)).toContain(
      'Day Messages Failed Pass rate 14 Mar 2026 100 75 25.0% 13 Mar 2026 50 0 100.0%',
    );
    // Thirty columns of 6 end on the 15th; the line goes from all passed to a quarter.
    expect(text).toContain('d="M164 0h0L170 75"');
    expect(text).toContain('aria-label="Messages per day, at most 100"');
  });

  test('days without reports are gaps in the line', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-03-10', 10, 10), day('2026-03-14', 10, 10)]);
    expect((await browser.get(`/settings/domains/${id}`)).text).toContain('d="M146 0h0M170 0h0"');
  });

  test('90 days include what 30 days do not', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-01-01', 7, 7)]);
    const messages = async (days: string) =>
      /of ([\d,]+) messages/.exec(await read(`/settings/domains/${id}?days=${days}`))?.[1];
    expect([await messages('30'), await messages('90'), await messages('x')]).toEqual([
      '0',
      '7',
      '0',
    ]);
  });

  test('lists its latest reports, of any reporter', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [aReport({ orgName: null }), aReport({ orgName: 'Mailbox Provider' })]);
    const text = await read(`/settings/domains/${id}`);
    expect(text).toContain('All of 2 reports.');
    expect(text).toContain('Mailbox Provider 14 Mar 2026 10 3 70.0%');
    expect(text).toContain('Unnamed reporter');
  });

  test('of a paused domain stays readable', async () => {
    const { id } = await aDomain(api.db, accountId, { status: 'paused' });
    expect(await read(`/settings/domains/${id}`)).toContain('Paused');
  });
});

describe('alerts as text', () => {
  test.each([
    [
      'alert.alignment_regression',
      { drop_pct: 31.37, prev_pass_rate: 98.04, curr_pass_rate: 66.67 },
      'Alignment regression The pass rate fell by 31.37 points, from 98.04% to 66.67%.',
    ],
    [
      'alert.alignment_regression',
      {
        drop_pct: 20,
        prev_pass_rate: 99,
        curr_pass_rate: 79,
        day: '2026-03-14',
        message_count: 1200,
        failed_count: 252,
      },
      'from 99% to 79%. 252 of 1,200 messages failed on 14 Mar 2026.',
    ],
    [
      'alert.reports_missing',
      {
        last_report_at: '2026-03-11T04:00:00Z',
        hours_since_last_report: 72,
        previous_daily_average: 3.5,
      },
      'No report for 72 hours; before, 3.5 came on an average day. The last one came on 11 Mar 2026, 04:00:00 UTC.',
    ],
    [
      'alert.new_failing_source',
      {
        message_count: 250,
        failed_count: 240,
        sources: [{ ip: '203.0.113.9', message_count: 250, failed_count: 240 }],
        additional_sources: 2,
      },
      '240 of 250 messages from addresses not seen before failed: 203.0.113.9 (240 failed), 2 more.',
    ],
    [
      'alert.dns_record_changed',
      {
        record_type: 'TXT',
        record_name: '_dmarc.example.com',
        change: 'removed',
        previous_value: 'v=DMARC1; p=reject',
        current_value: null,
      },
      'The TXT record at _dmarc.example.com was removed. It was: v=DMARC1; p=reject',
    ],
    [
      'alert.policy_weakened',
      { previous_policy: 'reject', current_policy: 'none', record_name: '_dmarc.example.com' },
      'The policy at _dmarc.example.com went from reject to none.',
    ],
    ['alert.of_tomorrow', { weather: 'fine' }, 'alert.of_tomorrow weather: "fine"'],
  ])('%s', async (type, context, words) => {
    const { id } = await aDomain(api.db, accountId);
    await anAlert(api.db, { accountId, domainId: id }, { type, context });
    expect(await read(`/settings/domains/${id}`)).toContain(words);
  });
});
