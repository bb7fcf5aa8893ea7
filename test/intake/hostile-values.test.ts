import { gunzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { aRecord, aReportWith, HOSTILE_VALUES } from '../../scripts/hostile/values.ts';
import { unpackContent } from '../../src/domain/reports/report-content.ts';
import { Budget } from '../../src/intake/budget.ts';
import { toContent } from '../../src/intake/content.ts';
import { readFeedback } from '../../src/intake/report/feedback.ts';
import { WarningLog } from '../../src/intake/warnings.ts';
import { NOW, read } from '../support/intake.ts';

/** The outcome of each. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'an xmlns of 990,000 characters': 'report long_value',
  '1,000 errors of 4 kB': 'report missing_org_name long_list',
  'a count of 2^53 - 1': 'rejected count_too_large',
  'a window in the year 5138': 'rejected window_in_future',
  '30 DKIM results of 700,000 characters in each value': 'report long_value',
  'a record of 5,000 DKIM results': 'report long_list',
  'every name of a million characters': 'report long_value unknown_policy_word',
  'a report id of a million characters': 'rejected bad_field',
  'a count of a million digits': 'rejected bad_field',
  'a begin of a million digits': 'rejected missing_dates',
  'a begin in milliseconds of the year 5138': 'rejected window_in_future',
  'a window that ends in the year 5138': 'report long_window',
  'negative dates': 'rejected missing_dates',
  'a domain of a million labels': 'rejected bad_field',
  'a domain of a million ideographs': 'rejected bad_field',
  '50,000 addresses': 'report',
  '20,000 addresses of a thousand messages': 'report',
  '100,000 records with every value wrong':
    'report missing_header_from invalid_source_ip invalid_count missing_policy_evaluated',
  'an e-mail address of a million signs':
    'report repeated_element missing_org_name long_value invalid_email',
  'an organisation of control and bidi characters': 'report',
  'a million blanks around each value': 'report repeated_element',
};

async function outcomeOf(bytes: Uint8Array): Promise<string> {
  try {
    const { report, warnings } = await read(gunzipSync(bytes));
    expect(JSON.stringify({ ...report, content: '' }).length).toBeLessThan(64 * 1024);
    return ['report', ...warnings].join(' ');
  } catch (error) {
    return `rejected ${(error as { reason?: string }).reason}`;
  }
}

test.each(HOSTILE_VALUES)(
  '$name is read or rejected, and little of it is stored',
  async ({ name, bytes }) => {
    expect(await outcomeOf(bytes())).toBe(OUTCOMES[name]);
  },
);

describe('a report whose values are too long', () => {
  it('keeps 200 characters of a namespace that has 990,000', async () => {
    const { report, warnings } = await read(
      aReportWith({ root: ` xmlns="${'n'.repeat(990_000)}"` }),
    );
    expect(report.xmlNamespace).toBe('n'.repeat(200));
    expect(warnings).toEqual(['long_value']);
  });

  it('keeps the first errors of 1,000, as many as fit into 32,000 characters', async () => {
    const { report, warnings } = await read(
      aReportWith({ metadata: `<error>${'e'.repeat(5_000)}</error>`.repeat(1_000) }),
    );
    expect(report.metadata.errors).toEqual(Array(8).fill('e'.repeat(4_000)));
    expect(warnings).toContain('long_list');
  });

  it('keeps a value of the maximum length, with or without blanks around it', async () => {
    const name = 'x'.repeat(1_000);
    const { report, warnings } = await read(
      aReportWith({
        metadata: `<org_name>${' '.repeat(9_000)}${name}${' '.repeat(9_000)}</org_name>`,
      }),
    );
    expect(report.metadata.orgName).toBe(name);
    expect(warnings).toEqual([]);
  });

  it('notices a cut after many blanks', async () => {
    const { report, warnings } = await read(
      aReportWith({ metadata: `<org_name>x${' '.repeat(9_000)}<!-- -->y</org_name>` }),
    );
    expect(report.metadata.orgName).toBe('x');
    expect(warnings).toEqual(['long_value']);
  });

  it('never cuts a surrogate pair in two', async () => {
    const { report } = await read(
      aReportWith({ metadata: `<org_name>${'x'.repeat(999)}📬</org_name>` }),
    );
    expect(report.metadata.orgName).toBe('x'.repeat(999));
  });

  it('holds only the kept part of a record of 1,000 long DKIM results', async () => {
    const long = 'd'.repeat(60_000);
    const result = `<dkim><domain>${long}</domain><human_result>${long}</human_result></dkim>`;
    const before = process.memoryUsage.rss();
    const { records } = await read(
      aReportWith({ records: aRecord({ results: result.repeat(500) }) }),
    );
    expect(records[0]?.authResults.dkim).toHaveLength(500);
    expect(records[0]?.authResults.dkim[499]).toMatchObject({
      domain: 'd'.repeat(1_000),
      humanResult: 'd'.repeat(4_000),
    });
    expect(process.memoryUsage.rss() - before).toBeLessThan(250 * 1024 * 1024);
  });
});

describe('a report with dates in the future', () => {
  const DAY = 86_400;
  const begin = (seconds: number) =>
    read(aReportWith({ begin: `${seconds}`, end: `${seconds + DAY}` }));

  it('is stored with a warning up to 2 days after its receipt', async () => {
    expect((await begin(NOW / 1000 + 2 * DAY)).warnings).toEqual(['future_begin']);
  });

  it.each([NOW / 1000 + 2 * DAY + 1, 99_999_999_999])(
    'is rejected beyond that: one of the year 5138 was always the first in every list (%i)',
    async (seconds) => {
      await expect(begin(seconds)).rejects.toMatchObject({ reason: 'window_in_future' });
    },
  );
});

describe('an input whose budget for rows is spent', () => {
  const addresses = Array.from({ length: 900 }, (_, i) =>
    aRecord({ ip: `2001:db8::${i + 1}`, count: `${1_000 - i}` }),
  ).join('');
  const readWith = (budget: Budget) =>
    readFeedback(toContent(Buffer.from(aReportWith({ records: addresses }))), {
      log: new WarningLog(),
      nowMs: NOW,
      budget,
    });

  it('keeps the largest records of a report, and its exact totals', async () => {
    const budget = new Budget(100_000);
    budget.keep(budget.keepable - 4_500);
    const { content, tally, warnings } = await readWith(budget);
    const { records, others } = unpackContent(content);
    expect(records).toHaveLength(450);
    expect(records[0]).toMatchObject({ sourceIp: '2001:db8::1', count: 1_000 });
    const messages = records.reduce((sum, { count }) => sum + count, 0);
    expect(others).toEqual({
      recordCount: 450,
      totalMessages: 495_450 - messages,
      alignedMessages: 0,
    });
    expect(tally).toMatchObject({ recordCount: 900, totalMessages: 495_450 });
    expect(warnings).toMatchObject([{ code: 'records_cut', count: 1 }]);
  });

  it('rejects a report for which nothing is left', async () => {
    const budget = new Budget(100_000);
    budget.keep(budget.keepable - 100);
    await expect(readWith(budget)).rejects.toMatchObject({ reason: 'too_large' });
  });
});
