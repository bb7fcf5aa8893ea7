import { expect, test } from 'vitest';
import {
  describeChange,
  findAlertCause,
  findAlertText,
} from '../../src/domain/alerts/alert-texts.ts';
import { addDays } from '../../src/domain/instant.ts';
import { aRecord, aReportOf, aSignature } from '../support/builders.ts';
import { aMailChannel } from '../support/mail-channel.ts';
import { aStore } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';
import { aWorld as aBareWorld } from './world.ts';

/* The cause is known where an alert fires, and all that tell of the alert say it. */

const NAME = 'caused.example';
const REGRESSION = 'alert.alignment_regression';
const SES = ['192.0.2.1', '192.0.2.2'];
const STRANGER = '203.0.113.9';
const day = (n: number) => addDays('2026-03-01', n);

/** Mail by Amazon SES, which signs as itself, and as the domain with a key that is good or broken. */
function bySes(count: number, result: 'pass' | 'fail') {
  const own = aSignature({ domain: NAME, selector: 's2', result });
  const signatures = [own, aSignature({ domain: 'amazonses.com', selector: 'x', result: 'pass' })];
  return SES.map((sourceIp) => aRecord({ sourceIp, count, dkim: result, spf: 'fail', signatures }));
}

const by = (sourceIp: string, count: number, spf: 'pass' | 'fail') =>
  aRecord({ sourceIp, count, dkim: 'fail', spf, signatures: [] });

/** A domain that sends by Amazon SES and by itself, after ten good days, with an owner who is mailed. */
async function aWorld() {
  const store = await aStore();
  const world = await aBareWorld(store, { name: NAME });
  const mail = await aMailChannel(store, { now: () => '2026-03-13T07:00:00Z' });
  await aPerson(store, world.accountId, 'owner@example.com');
  const say = async (n: number, records: readonly ReturnType<typeof aRecord>[]) => {
    const report = aReportOf(records, { domain: NAME, begin: `${day(n)}T00:00:00Z` });
    await world.receive([report], `${addDays(day(n), 1)}T06:00:00Z`);
    await world.evaluate();
    await mail.deliver();
    return await world.alerts();
  };
  const own = by('192.0.2.9', 100, 'pass');
  for (let n = 1; n <= 10; n += 1) await say(n, [...bySes(200, 'pass'), own]);
  return { say, own, mails: mail.received };
}

const subjectsOf = (mails: readonly { readonly subject: string }[]) =>
  mails.map(({ subject }) => subject);

test('who stopped signing is in the alert’s context, its text, its mail and its mail’s subject: they said “find out whose messages fail”', async () => {
  const { say, own, mails } = await aWorld();
  const [alert] = await say(11, [...bySes(200, 'fail'), own]);
  expect(alert?.context.cause).toEqual({
    ...{ sender: 'Amazon SES', service: 'Amazon SES', source_ip: null },
    ...{ message_count: 400, failed_count: 400, selector: 's2', signing_domain: NAME },
  });
  const told =
    'Amazon SES stopped signing correctly on 12 Mar 2026 (selector s2): compare its key.';
  expect(findAlertCause(REGRESSION, alert?.context)?.text).toBe(told);
  const { describe, advice } = findAlertText(REGRESSION);
  expect(describe(alert?.context)).toMatch(told);
  const change = { type: REGRESSION, context: alert?.context };
  expect(describeChange({ ...change, isResolved: false }, NAME)).toMatch(
    `Pass rate fell on ${NAME}: ${told}`,
  );
  expect(subjectsOf(mails)).toEqual([`Amazon SES fails on ${NAME}`]);
  expect(mails[0]?.text.startsWith(told)).toBe(true);
  expect(mails[0]?.text).not.toContain(advice);
});

test('the figures of the cause follow what comes while the alert is open, and a resolution has its firing’s subject', async () => {
  const { say, own, mails } = await aWorld();
  await say(11, [...bySes(200, 'fail'), own]);
  const [changed] = await say(12, [...bySes(1, 'fail'), own, by(STRANGER, 2_100, 'fail')]);
  expect(changed?.context.cause).toEqual({
    ...{ sender: STRANGER, service: null, source_ip: STRANGER },
    ...{ message_count: 2_100, failed_count: 2_100, selector: null, signing_domain: null },
  });
  expect(findAlertCause(REGRESSION, changed?.context)?.text).toBe(
    `${STRANGER} sent 2,100 messages since 12 Mar 2026, of which 2,100 failed. If it is yours, its page says what to do. If not, mark it as unknown.`,
  );
  const [resolved] = await say(13, [...bySes(200, 'pass'), own]);
  expect(resolved?.resolved_at).not.toBeNull();
  const fall = subjectsOf(mails).filter((subject) => !subject.startsWith('New failing'));
  expect(fall).toEqual([`Amazon SES fails on ${NAME}`, `Re: Amazon SES fails on ${NAME}`]);
});

test('a new failing source names the service of most, and how many sent besides', async () => {
  const { say, own, mails } = await aWorld();
  const signatures = [aSignature({ domain: 'sendgrid.net', selector: 'x', result: 'pass' })];
  const bySendGrid = ['198.51.100.1', '198.51.100.2'].map((sourceIp) =>
    aRecord({ sourceIp, count: 30, dkim: 'fail', spf: 'fail', signatures }),
  );
  const strangers = [STRANGER, '203.0.113.10'].map((ip) => by(ip, 40, 'fail'));
  const all = [...bySes(200, 'pass'), own, ...bySendGrid, ...strangers];
  const alerts = await say(11, all);
  const alert = alerts.find(({ type }) => type === 'alert.new_failing_source');
  expect(alert?.context.sources).toEqual([
    { ip: '203.0.113.10', message_count: 40, failed_count: 40, service: null },
    { ip: STRANGER, message_count: 40, failed_count: 40, service: null },
    { ip: '198.51.100.1', message_count: 30, failed_count: 30, service: 'Twilio SendGrid' },
    { ip: '198.51.100.2', message_count: 30, failed_count: 30, service: 'Twilio SendGrid' },
  ]);
  expect(findAlertCause('alert.new_failing_source', alert?.context)?.text).toBe(
    'Twilio SendGrid and 2 more sources sent 140 messages from addresses not seen before, of which 140 failed. Mark them as legitimate or as unknown.',
  );
  expect(subjectsOf(mails)).toContain(`Twilio SendGrid fails on ${NAME}`);
});
