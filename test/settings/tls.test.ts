import { expect, test } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import type { TlsCheck } from '../../src/domain/tls/tls-check.ts';
import { updateTlsCheck } from '../../src/store/alerts/daily-checks.ts';
import { aDomain, anAlert, aReport, NOW, receive } from '../support/builders.ts';
import { aReadFailure, aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';
import { onTestDay, toReadable } from '../support/visitor.ts';

async function aDomainPage() {
  const { api, accountId, browser } = await onTestDay();
  const { id, name } = await aDomain(api.db, accountId);
  const tell = (
    day: string,
    changes: Parameters<typeof aReadPolicy>[0],
    { orgName = 'Provider One', sender = {} } = {},
  ) => {
    const policies = [aReadPolicy({ domain: name, ...changes })];
    const of = { domain: name, begin: `${day}T00:00:00Z`, reportId: `${day} ${orgName}` };
    return receive(api.db, [aReadTlsReport({ ...of, orgName, policies })], NOW, sender);
  };
  const read = async () => (await browser.get(`/settings/domains/${id}`)).text;
  const section = async () =>
    toReadable(/<section[^>]*aria-labelledby="tls".*?<\/section>/s.exec(await read())?.[0] ?? '');
  return { db: api.db, accountId, id, name, browser, tell, read, section };
}

test('a domain without TLS reports has no section of them, and one without those that count says why', async () => {
  const { db, name, tell, section } = await aDomainPage();
  await receive(db, [aReport({ domain: name })]);
  expect(await section()).toBe('');
  await tell('2026-03-14', {}, { sender: { authenticated: '' } });
  expect(await section()).toContain('No TLS report that counts covers the last 30 days.');
});

test('one line says that all is encrypted, and in which mode', async () => {
  const { name, tell, section } = await aDomainPage();
  await tell('2026-03-13', { mode: 'enforce', successes: 1_200 });
  await tell('2026-03-14', { mode: 'enforce', successes: 4 });
  expect(await section()).toContain(
    `Mail to ${name}: 1,204 sessions in 30 days, all encrypted as MTA-STS asks (enforce).`,
  );
  expect(await section()).not.toContain('What to do');
});

test('the worst failure has its effect, who saw it, the host, and what to do; other figures have none of it', async () => {
  const { name, tell, read, section } = await aDomainPage();
  const details = [
    aReadFailure({ sessions: 3, mxHost: 'mx2.example.com' }),
    aReadFailure({ sessions: 1, resultType: 'validation-failure', mxHost: '<b>&.example' }),
  ];
  await tell('2026-03-12', { mode: 'enforce', successes: 16, failures: 4, details });
  await tell('2026-03-14', { mode: 'enforce', successes: 4 }, { orgName: 'Provider Two' });
  const text = await section();
  expect(text).toContain('4 of 24 sessions in 30 days not encrypted as MTA-STS asks (enforce).');
  expect(text).toContain('The certificate of mx2.example.com has expired. These senders did not');
  expect(text).toContain(
    'Seen by Provider One in 3 sessions, last on 12 Mar 2026, and not on the 1 later day with reports.',
  );
  expect(text).toMatch(/What to do: Renew it.* set mode: testing in the policy file/);
  expect(text).toContain('12 Mar 2026 MTA-STS (enforce) 20 4');
  expect(text).toContain('Provider Two MTA-STS 4 0');
  expect(text).toContain('mx2.example.com certificate-expired 3');
  const page = await read();
  expect(page).not.toContain('<b>&.example');
  expect(page).toContain('No report was received yet.');
  expect(toReadable(page)).not.toContain(`${name} 24`);
});

test('a policy in testing is said to lack what enforce needs', async () => {
  const { tell, section } = await aDomainPage();
  for (let i = 0; i < 14; i += 1) await tell(addDays('2026-03-14', -i), {});
  expect(await section()).toContain(
    'Not ready for enforce yet. The policy file has not been checked. Only one reporter tells of it.',
  );
});

test('what checks found of a policy is said, without reports too', async () => {
  const { db, id, name, section } = await aDomainPage();
  const policy = { mode: 'testing', mx: ['mx1.example.com'], maxAge: 604_800 } as const;
  const sts = { id: '7', recordFindings: [], policy, fileFindings: ['mx_not_covered'] } as const;
  const record = { value: null, findings: [] } as const;
  const store = (check: TlsCheck) =>
    updateTlsCheck(db, { domainId: id, at: NOW, found: check, isAsked: true });
  await store({ record, sts: null });
  expect(await section()).toBe('');
  await store({ record, sts });
  expect(await section()).toMatch(
    new RegExp(`What checks found.*Wrong An MX of ${name} matches no mx line`),
  );
  await store({ record, sts: { ...sts, fileFindings: [] } });
  expect(await section()).toContain('DNS and the policy file had no fault');
});

test('an alert about TLS says what to do with a link to the section, and has no sign in the chart of the pass rate', async () => {
  const { db, accountId, id, name, browser } = await aDomainPage();
  await receive(db, [aReport({ domain: name })]);
  const context = {
    ...{ day: '2026-03-14', failed_sessions: 20, total_sessions: 40, failure_rate: 50 },
    ...{ policy_type: 'sts', mode: 'enforce', reporters: [{ reporter: 'Provider One' }] },
    result_types: [{ result_type: 'certificate-expired' }],
    mx_hosts: [{ mx_host: 'mx.example.com' }],
  };
  const owner = { accountId, domainId: id };
  const alert = await anAlert(db, owner, { type: 'alert.tls_failures', context });
  const told =
    'The certificate of mx.example.com has expired. Renew it, reload the mail server, and automate both.';
  for (const path of ['/alerts', `/alerts/${alert}`]) {
    const { text } = await browser.get(`/settings${path}`);
    expect(toReadable(text)).toContain(told);
    expect(text).toContain(`href="/settings/domains/${id}#tls"`);
  }
  const { text } = await browser.get(`/settings/domains/${id}`);
  expect(toReadable(text)).toContain(`Next step ${told} See what failed`);
  expect(text).not.toContain('aria-label="Alerts in the chart"');
  await anAlert(db, owner);
  const { text: another } = await browser.get(`/settings/domains/${id}`);
  expect(another).toContain('aria-label="Alerts in the chart"');
});
