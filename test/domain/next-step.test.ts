import { describe, expect, test } from 'vitest';
import type {
  DomainFacts,
  FailingSender,
  JudgedMail,
  ScopedMail,
} from '../../src/domain/domain-facts.ts';
import { findNextStep } from '../../src/domain/next-step.ts';
import type { MailByStanding } from '../../src/domain/own-mail.ts';
import { addUp } from '../../src/domain/pass-rate.ts';
import { assess } from '../../src/domain/readiness.ts';

/** A domain with p=none for which all is good for long. */
const GOOD: DomainFacts = {
  status: 'active',
  sendsNoMail: false,
  today: '2026-03-15',
  oldest: '2025-01-01',
  newest: '2026-03-14',
  counts: { messages: 10_000, aligned: 10_000 },
  dataDays: 30,
  before: { messages: 10_000, aligned: 10_000 },
  record: 'v=DMARC1; p=none; rua=mailto:dmarc@reports.example.net',
  openAlerts: [],
};

const FAILING = { messages: 10_000, aligned: 6_400 };

const NONE = { messages: 0, aligned: 0, sources: 0 };

type Mail = Partial<ScopedMail & Omit<JudgedMail, 'all'>>;

/** Mail by its standing, and who sent it. */
function scoped(standings: Partial<MailByStanding>, { failing = [] }: Mail = {}): ScopedMail {
  const empty = {
    ...{ passing: NONE, own: NONE, undecided: NONE },
    ...{ forwarded: NONE, stranger: NONE, foreign: NONE },
  };
  return { failing, forwarders: [], strangers: [], standings: { ...empty, ...standings } };
}

function aMail(all: Partial<MailByStanding>, rest: Mail = {}): JudgedMail {
  const { isQuiet = false, below = scoped({}), unsigned = [], past = [] } = rest;
  const { passing = NONE, own = NONE } = all;
  const owned = { ...addUp([passing, own]), days: 30 };
  return { all: scoped(all, rest), below, isQuiet, owned, unsigned, past };
}

const failing = (messages: number, sources = 1) => ({ messages, aligned: 0, sources });
const passing = (messages: number) => ({ messages, aligned: messages, sources: 1 });

const SENDGRID: FailingSender = {
  key: 'service SendGrid',
  title: 'SendGrid',
  verdict: 'needs_setup',
  broken: { domain: 'example.com', selector: 's1', result: 'fail' },
  messages: 3_600,
  aligned: 0,
  ...{ reason: 'signature_broken', sources: 1, lastDay: '2026-03-14', isBlocking: true },
  latest: {
    ...{ messages: 840, aligned: 0, isFailing: true, unsigned: 0 },
    ...{ stopped: undefined, cause: undefined },
  },
  service: { name: 'SendGrid', kind: 'transactional' },
  guide: undefined,
  applied: new Map(),
};

const UNSIGNED = { ...SENDGRID, aligned: 3_600, unsigned: 3_600, signature: undefined };

const step = (facts: Partial<DomainFacts>) => findNextStep({ ...GOOD, ...facts });

describe('the next step of a domain', () => {
  test.each<[string, Partial<DomainFacts>, object]>([
    [
      'paused',
      { status: 'paused', openAlerts: [{ type: 'alert.x', day: undefined }] },
      { kind: 'resume' },
    ],
    ['no report yet', { oldest: null, newest: null }, { kind: 'first_reports' }],
    [
      'an open alert comes before the rate',
      {
        openAlerts: [{ type: 'alert.reports_missing', day: undefined }],
        counts: { messages: 10, aligned: 0 },
      },
      { kind: 'alert', type: 'alert.reports_missing' },
    ],
    [
      'of several alerts, who fails comes first',
      {
        openAlerts: [
          { type: 'alert.policy_weakened', day: undefined },
          { type: 'alert.tomorrow', day: undefined },
          { type: 'alert.new_failing_source', day: undefined },
        ],
      },
      { kind: 'alert', type: 'alert.new_failing_source' },
    ],
    [
      'a sender of the owner’s that stopped signing comes before one that is new',
      {
        openAlerts: [
          { type: 'alert.new_failing_source', day: undefined },
          {
            ...{ type: 'alert.alignment_regression', day: undefined },
            cause: {
              ...{ sender: 'Mailer', text: 'Mailer stopped signing.' },
              signature: { domain: 'example.com', selector: 's1', service: 'Mailer' },
            },
          },
        ],
      },
      { kind: 'alert', type: 'alert.alignment_regression' },
    ],
    [
      'an alert of a type of tomorrow',
      { openAlerts: [{ type: 'alert.tomorrow', day: undefined }] },
      { kind: 'alert', type: 'alert.tomorrow' },
    ],
    ['seven days without a report', { newest: '2026-03-08' }, { kind: 'stronger' }],
    [
      'eight days without a report',
      { newest: '2026-03-07' },
      { kind: 'silent', newest: '2026-03-07' },
    ],
    ['no DMARC record', { record: null }, { kind: 'publish_record' }],
    [
      'exactly 99 % is not over 99 %',
      { counts: { messages: 10_000, aligned: 9_900 } },
      { kind: 'failing', counts: { messages: 10_000, aligned: 9_900 } },
    ],
    ['failures, before anybody asked who sent', { counts: FAILING }, { kind: 'failing' }],
    [
      'a sender that failed when it last sent, months ago, before mail is refused',
      {
        record: 'v=DMARC1; p=quarantine',
        mail: aMail({ passing: passing(10_000) }, { past: [SENDGRID] }),
      },
      { kind: 'failing', sender: SENDGRID },
    ],
    [
      'the same, before mail is held back as spam',
      { mail: aMail({ passing: passing(10_000) }, { past: [SENDGRID] }) },
      { kind: 'stronger', to: 'quarantine' },
    ],
    [
      'a sender that passes by SPF alone',
      { mail: aMail({ passing: passing(10_000) }, { unsigned: [UNSIGNED] }) },
      { kind: 'sign', senders: [UNSIGNED] },
    ],
    [
      'p=reject, and a sender passes by SPF alone',
      {
        record: 'v=DMARC1; p=reject',
        mail: aMail({ passing: passing(10_000) }, { unsigned: [UNSIGNED] }),
      },
      { kind: 'sign', senders: [UNSIGNED] },
    ],
    [
      'a sender of a thousandth of the mail that fails',
      {
        counts: { messages: 3_600_000, aligned: 3_596_400 },
        mail: aMail({ passing: passing(3_596_400), own: failing(3_600) }, { failing: [SENDGRID] }),
      },
      { kind: 'failing', sender: SENDGRID },
    ],
    [
      'reports that anybody may have sent',
      { isUnproven: true, mail: aMail({ passing: passing(10_000) }) },
      { kind: 'wait', isUnproven: true },
    ],
    [
      'three weeks without a report about a domain that sends each ten days',
      { newest: '2026-02-22', gap: 10 },
      { kind: 'stronger' },
    ],
    [
      'over 99 %, with p=none',
      { counts: { messages: 10_000, aligned: 9_901 } },
      { kind: 'stronger', tag: 'p', from: 'none', to: 'quarantine' },
    ],
    [
      'over 99 %, without a p tag',
      { record: 'v=DMARC1; rua=mailto:dmarc@reports.example.net' },
      { kind: 'stronger', tag: 'p', from: null, to: 'quarantine' },
    ],
    [
      'over 99 %, with a p that nobody knows',
      { record: 'v=DMARC1; p=block' },
      { kind: 'stronger', tag: 'p', from: null, to: 'quarantine' },
    ],
    [
      'p=reject, with an sp that nobody knows',
      { record: 'v=DMARC1; p=reject; sp=block' },
      { kind: 'stronger', tag: 'sp', from: null, to: 'reject' },
    ],
    [
      'over 99 %, with p=quarantine',
      { record: 'v=DMARC1; p=quarantine' },
      { kind: 'stronger', tag: 'p', from: 'quarantine', to: 'reject' },
    ],
    [
      'two DMARC records are none, whatever they say',
      { record: 'v=DMARC1; p=reject\nv=DMARC1; p=none' },
      { kind: 'one_record' },
    ],
    [
      'two DMARC records are why no report comes',
      { record: 'v=DMARC1; p=reject\nv=DMARC1; p=reject', oldest: null, newest: null },
      { kind: 'one_record' },
    ],
    [
      'p=quarantine for some of the mail',
      { record: 'v=DMARC1; p=quarantine; pct=5' },
      { kind: 'enforce', policy: 'quarantine', tags: ['pct=5'] },
    ],
    [
      'p=reject as a test',
      { record: 'v=DMARC1; p=reject; T = Y; pct=0; sp=none' },
      { kind: 'enforce', policy: 'reject', tags: ['t=y', 'pct=0'] },
    ],
    [
      'p=reject as a test, and failures',
      { record: 'v=DMARC1; p=reject; t=y', counts: { messages: 10_000, aligned: 10 } },
      { kind: 'failing' },
    ],
    ['p=reject for all mail', { record: 'v=DMARC1; p=reject; pct=100; t=n' }, { kind: 'nothing' }],
    [
      'p=none as a test has nothing to apply',
      { record: 'v=DMARC1; p=none; t=y; pct=5' },
      { kind: 'stronger', tag: 'p', from: 'none', to: 'quarantine' },
    ],
    ['p=reject', { record: 'v=DMARC1; p=reject' }, { kind: 'nothing' }],
    [
      'p=reject, and others try in vain',
      { record: 'v=DMARC1; p=reject', counts: { messages: 10_000, aligned: 10 } },
      { kind: 'nothing' },
    ],
    [
      'p=reject, but not for subdomains',
      { record: 'v=DMARC1; p=reject; sp=none' },
      { kind: 'stronger', tag: 'sp', from: 'none', to: 'reject' },
    ],
    ['a policy that nobody has looked up', { record: undefined }, { kind: 'policy_unknown' }],
    [
      'a policy that nobody has looked up, and failures',
      { record: undefined, counts: { messages: 10_000, aligned: 10 } },
      { kind: 'failing' },
    ],
    ['29 days of reports', { oldest: '2026-02-14' }, { kind: 'wait', dataDays: 30 }],
    ['30 days of reports', { oldest: '2026-02-13' }, { kind: 'stronger' }],
    ['data on 19 of them', { dataDays: 19 }, { kind: 'wait', dataDays: 19 }],
    ['data on 20 of them', { dataDays: 20 }, { kind: 'stronger' }],
    ['999 messages', { counts: { messages: 999, aligned: 999 } }, { kind: 'wait', messages: 999 }],
    ['1,000 messages', { counts: { messages: 1_000, aligned: 1_000 } }, { kind: 'stronger' }],
    [
      'reports without messages',
      { counts: { messages: 0, aligned: 0 }, dataDays: 0 },
      { kind: 'wait', messages: 0 },
    ],
    [
      'p=reject, and mail of the owner is rejected',
      {
        record: 'v=DMARC1; p=reject',
        counts: FAILING,
        mail: aMail({ passing: passing(6_400), own: failing(3_600) }, { failing: [SENDGRID] }),
      },
      { kind: 'failing', isRejected: true, sender: SENDGRID },
    ],
    [
      'p=reject, and mail of nobody that is known is rejected',
      {
        record: 'v=DMARC1; p=reject',
        counts: FAILING,
        mail: aMail({ passing: passing(6_400), undecided: failing(3_600) }),
      },
      { kind: 'nothing' },
    ],
    [
      'p=reject, sp=none, and mail of a subdomain fails',
      {
        record: 'v=DMARC1; p=reject; sp=none',
        counts: FAILING,
        mail: aMail(
          { passing: passing(6_400), own: failing(3_600) },
          { below: scoped({ own: failing(3_600) }, { failing: [SENDGRID] }), failing: [SENDGRID] },
        ),
      },
      {
        kind: 'failing',
        isRejected: false,
        sender: SENDGRID,
      },
    ],
    [
      'p=reject, sp=none, and strangers forge subdomains',
      {
        record: 'v=DMARC1; p=reject; sp=none',
        counts: FAILING,
        mail: aMail(
          { passing: passing(6_400), stranger: failing(3_600, 40) },
          { below: scoped({ passing: passing(2_000), stranger: failing(3_600, 40) }) },
        ),
      },
      { kind: 'stronger', tag: 'sp', strangers: { ...failing(3_600, 40), senders: [] } },
    ],
    [
      'p=reject, sp=reject, np=none',
      { record: 'v=DMARC1; p=reject; sp=reject; np=none' },
      { kind: 'stronger', tag: 'np', from: 'none', to: 'reject' },
    ],
    [
      'a sender leads, which is the one with most failures',
      {
        counts: FAILING,
        mail: aMail({ passing: passing(6_400), own: failing(3_600) }, { failing: [SENDGRID] }),
      },
      { kind: 'failing', sender: SENDGRID },
    ],
    [
      'more than a twentieth is passed on',
      {
        counts: { messages: 10_000, aligned: 9_400 },
        mail: aMail({ passing: passing(9_400), forwarded: failing(600) }),
      },
      { kind: 'forwarded' },
    ],
    [
      'a twentieth is passed on',
      {
        counts: { messages: 10_000, aligned: 9_500 },
        mail: aMail({ passing: passing(9_500), forwarded: failing(500) }),
      },
      { kind: 'stronger' },
    ],
    [
      'nothing passed for a month, and nothing is known to be the owner’s',
      {
        counts: { messages: 500, aligned: 0 },
        dataDays: 10,
        mail: aMail({ undecided: failing(500) }),
      },
      { kind: 'no_passing_mail' },
    ],
    [
      'nothing passed for a month, and a server of the owner fails',
      {
        counts: { messages: 500, aligned: 0 },
        mail: aMail({ own: failing(500) }, { failing: [SENDGRID] }),
      },
      { kind: 'failing' },
    ],
    [
      'the owner says that no mail is sent, with p=none',
      { sendsNoMail: true, counts: { messages: 500, aligned: 0 } },
      { kind: 'lock' },
    ],
    [
      'the owner says that no mail is sent, before the first report',
      { sendsNoMail: true, oldest: null, newest: null, counts: { messages: 0, aligned: 0 } },
      { kind: 'lock' },
    ],
    [
      'the owner says that no mail is sent, with p=reject',
      { sendsNoMail: true, record: 'v=DMARC1; p=reject', counts: { messages: 9, aligned: 0 } },
      { kind: 'nothing' },
    ],
    [
      'the owner says that no mail is sent, and some passes',
      { sendsNoMail: true, counts: { messages: 500, aligned: 3 } },
      { kind: 'sends_after_all', messages: 3 },
    ],
    [
      'a small domain after 90 quiet days',
      {
        oldest: '2025-12-15',
        counts: { messages: 60, aligned: 60 },
        mail: aMail({ passing: passing(60) }, { isQuiet: true }),
      },
      { kind: 'stronger' },
    ],
    [
      'a small domain after 89 quiet days',
      {
        oldest: '2025-12-16',
        counts: { messages: 60, aligned: 60 },
        mail: aMail({ passing: passing(60) }, { isQuiet: true }),
      },
      { kind: 'wait', daysToGo: 1 },
    ],
    [
      'a small domain of which a message failed in 90 days',
      {
        counts: { messages: 60, aligned: 60 },
        mail: aMail({ passing: passing(60) }),
      },
      { kind: 'wait', daysToGo: undefined },
    ],
  ])('%s', (_, facts, wanted) => {
    expect(step(facts)).toMatchObject(wanted);
    const { answer } = assess({ ...GOOD, ...facts });
    const { kind } = step(facts);
    // They never say something else.
    if (kind === 'stronger' || kind === 'lock') expect(answer).toBe('yes');
    if (kind === 'wait') expect(answer).toBe('wait');
    if (kind === 'forwarded' || kind === 'no_passing_mail') expect(answer).toBe('not_yet');
    if (answer === 'yes')
      expect([
        'resume',
        'alert',
        'one_record',
        'publish_record',
        'stronger',
        'lock',
        'enforce',
        'policy_unknown',
        'sends_after_all',
        'first_reports',
      ]).toContain(kind);
  });

  test('counts of any size are compared exactly', () => {
    const messages = Number.MAX_SAFE_INTEGER;
    const limit = Number((BigInt(messages) * 99n) / 100n);
    expect(step({ counts: { messages, aligned: limit } }).kind).toBe('failing');
    expect(step({ counts: { messages, aligned: limit + 1 } }).kind).toBe('stronger');
  });
});
