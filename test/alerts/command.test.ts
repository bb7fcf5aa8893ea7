import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import { PLAIN } from '../support/intake.ts';
import { aProgram } from '../support/program.ts';

const NO_SUCH = '00000000-0000-4000-8000-000000000000';
const today = new Date().toISOString().slice(0, 10);

/** A report of a past day, in which all or none of 200 messages pass. */
function reportFrom(daysAgo: number, passes: boolean): string {
  const begin = Date.parse(addDays(today, -daysAgo)) / 1000;
  const result = passes ? 'pass' : 'fail';
  return `<feedback><report_metadata><org_name>A</org_name><email>a@a.example</email>
    <report_id>${daysAgo}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range></report_metadata>
    <policy_published><domain>example.com</domain><p>none</p></policy_published>
    <record><row><source_ip>192.0.2.1</source_ip><count>200</count><policy_evaluated>
      <disposition>none</disposition><dkim>${result}</dkim><spf>fail</spf></policy_evaluated></row>
      <identifiers><header_from>example.com</header_from></identifiers><auth_results/></record></feedback>`;
}

async function aCompany() {
  const command = aProgram();
  const account = await command.json('account', 'create', 'A');
  const domain = await command.json('domain', 'add', account.id, 'example.com');
  return { ...command, account, domain };
}

test('ingest fires alerts of the domains with new reports; alerts lists, explains and evaluates', async () => {
  const { folder, run, json, account, domain } = await aCompany();
  await mkdir(join(folder, 'in'));
  for (let n = 8; n >= 1; n--)
    await writeFile(join(folder, 'in', `${n}.xml`), reportFrom(n, n > 1));
  expect((await run(['ingest', join(folder, 'in'), '--json'])).status).toBe(0);
  const [alert, ...others] = await json('alerts', 'list', account.id);
  expect(others).toEqual([]);
  expect(alert).toMatchObject({
    domain_id: domain.id,
    domain: 'example.com',
    type: 'alert.alignment_regression',
    resolved_at: null,
    context: { drop_pct: 100, prev_pass_rate: 100, curr_pass_rate: 0 },
  });
  const { stdout: table } = await run(['alerts', 'list', account.id]);
  expect(table).toMatch(/example\.com +alignment_regression +\d{4}-\d\d-\d\d \d\d:\d\d +-/);
  const explained = await json('alerts', 'explain', domain.id, 'alignment_regression');
  expect(explained).toMatchObject({ domain: 'example.com', type: alert.type, open: true });
  expect(explained.explanation.join(' ')).toMatch(
    /0 % of 200 messages .* 100 points under the 100 %/,
  );
  for (const type of [
    'alert.reports_missing',
    'new_failing_source',
    'dns_record_changed',
    'policy_weakened',
  ]) {
    const { status, stdout } = await run(['alerts', 'explain', domain.id, type]);
    expect([status, stdout.length > 40], type).toEqual([0, true]);
  }
  const nothing = { domains: 1, fired: 0, resolved: 0 };
  expect(await json('alerts', 'evaluate')).toEqual(nothing);
  expect(await json('alerts', 'evaluate', '--domain', domain.id)).toEqual(nothing);
});

test('nothing fires for an account without alerts, a paused domain or a backfill, and the reason is printed', async () => {
  const { folder, run, json, account, domain } = await aCompany();
  expect((await run(['alerts', 'list', account.id])).stdout).toMatch(/Nothing has fired/);
  await writeFile(join(folder, 'old.xml'), PLAIN);
  await run(['ingest', join(folder, 'old.xml')]);
  expect(await json('alerts', 'list', account.id)).toEqual([]);
  await json('domain', 'pause', domain.id);
  const { open, explanation } = await json('alerts', 'explain', domain.id, 'reports_missing');
  expect([open, explanation]).toEqual([false, ['example.com is paused: no alert fires for it.']]);
});

test('the explanation of missing reports says how many hours, and which day', async () => {
  const { folder, run, json } = await aCompany();
  await writeFile(join(folder, '1.xml'), reportFrom(1, true));
  await run(['ingest', join(folder, '1.xml')]);
  const { explanation } = await json('alerts', 'explain', 'example.com', 'reports_missing');
  expect(explanation.slice(0, 2)).toEqual([
    expect.stringMatching(/^Not open: the last report was received at \S+, 0 hours ago\.$/),
    expect.stringMatching(
      /^It fires when that is 72 hours ago, and only while the UTC day of that report, \d{4}-\d\d-\d\d, is at most 4 days ago\.$/,
    ),
  ]);
});

test.each([
  ['a domain that does not exist', ['alerts', 'explain', NO_SUCH, 'reports_missing'], 1],
  ['a domain that does not exist', ['alerts', 'evaluate', '--domain', NO_SUCH], 1],
  ['an account that does not exist', ['alerts', 'list', NO_SUCH], 1],
  ['a type that does not exist', ['alerts', 'explain', NO_SUCH, 'alert.of_tomorrow'], 2],
] as const)('%s: %j', async (_what, args, status) => {
  const { run } = await aCompany();
  expect((await run(args)).status).toBe(status);
});

test.each([
  ['PLUMBLINE_ALERT_DROP_POINTS', '0'],
  ['PLUMBLINE_ALERT_MIN_MESSAGES', 'many'],
  ['PLUMBLINE_DNS_CHECKS', 'yes'],
  ['PLUMBLINE_DNS_SERVERS', 'resolver.example'],
])('a configuration with %s=%s is rejected', async (name, value) => {
  const { run } = aProgram({ [name]: value });
  const { status, stderr } = await run(['alerts', 'evaluate']);
  expect([status, stderr.includes(name)]).toEqual([2, true]);
});

test('thresholds and DNS servers come from the environment', async () => {
  const { run, json } = aProgram({
    PLUMBLINE_ALERT_DROP_POINTS: '7.5',
    PLUMBLINE_DNS_SERVERS: '192.0.2.53, 192.0.2.53:5353,[2001:db8::53]:53,2001:db8::53',
  });
  await json('account', 'create', 'A');
  expect((await run(['alerts', 'evaluate'])).status).toBe(0);
});
