import type { NextStep } from '../../src/domain/next-step.ts';
import type { Mark } from '../../src/domain/sources/source.ts';

/*
 * Made-up domains with their traffic, and what a person who runs DMARC for a living would answer: whether the policy can be
 * p=reject, what the owner does next, and whom that names. The answers are written by hand, before the pages are asked.
 */

/** Whose word a report is: a file's, an established reporter's, nobody's, or a reporter's that began five days ago. */
export type Teller = 'file' | 'established' | 'nobody' | 'new';

/** Mail of one sender. In names `own` is the domain. */
export interface Traffic {
  /** The addresses, of which each sends its part of a day's messages; `day` is how many days ago. */
  readonly from: (day: number) => readonly string[];
  readonly daily: number;
  /** `pass own`, or null where nothing was asked. */
  readonly spf: string | null;
  /** `pass own selector`. */
  readonly dkim: readonly string[];
  readonly author: string;
  readonly ptr?: string;
  readonly reason?: 'forwarded' | 'mailing_list';
  /** The first and the last day, in days ago. */
  readonly days?: readonly [first: number, last: number];
  /** It sends every so many days. */
  readonly every?: number;
  readonly toldBy?: Teller;
  /** What a page would call it. */
  readonly label: string;
}

export type Answer = 'reached' | 'yes' | 'not_yet' | 'wait';

interface Wanted {
  readonly answer: Answer;
  readonly step: NextStep['kind'];
  /** Whom the step names; null: it names none of the senders. */
  readonly sender: string | RegExp | null;
  readonly why: string;
}

export interface TableDomain {
  readonly name: string;
  /** `p=none sp=reject t=y`, as reports have it. */
  readonly policy: string;
  /** What DNS has, where it is watched: null is no record. */
  readonly dns?: string | null;
  /** The first and the last day with reports, in days ago. */
  readonly days: readonly [first: number, last: number];
  readonly traffic: readonly Traffic[];
  readonly marks?: Readonly<Record<string, Mark>>;
  readonly sendsNoMail?: boolean;
  readonly isPaused?: boolean;
  readonly toldBy?: Teller;
  readonly wanted: Wanted;
}

type Details = Partial<Omit<Traffic, 'daily'>>;

/** The owner's mail server, of which everything passes. */
function server(daily: number, details: Details = {}): Traffic {
  return {
    ...{ from: at('192.0.2.10'), daily, author: 'own', ptr: 'mail.own', label: 'mail.own' },
    ...{ spf: 'pass own', dkim: ['pass own mail'] },
    ...details,
  };
}

/** Mailboxes of Google Workspace, set up. */
function google(daily: number, details: Details = {}): Traffic {
  return {
    ...{ from: at('198.51.100.10', '198.51.100.11'), daily, author: 'own', label: 'Google' },
    ...{ ptr: 'mail-sor-f41.google.com', spf: 'pass own', dkim: ['pass own google'] },
    ...details,
  };
}

/** A server of the owner's for another purpose, which is not signed. */
function payroll(
  daily: number,
  days: readonly [first: number, last: number],
  spf?: string,
): Traffic {
  const own = { from: at('192.0.2.77'), ptr: 'payroll.own', label: 'payroll', dkim: [] };
  return spf === undefined
    ? server(daily, { ...own, dkim: ['pass own p1'], days })
    : server(daily, { ...own, spf, days });
}

const SERVICES = {
  'Amazon SES': ['198.51.100.20', 'eu-west-1.amazonses.com'],
  SendGrid: ['198.51.100.24', 'sendgrid.net'],
  Mailchimp: ['198.51.100.28', 'mail1.suw11.mcsv.net'],
  HubSpot: ['198.51.100.32', 'bf1.hubspotemail.net'],
  Zendesk: ['198.51.100.36', 'zendesk.com'],
  Postmark: ['198.51.100.40', 'pm.mtasv.net'],
  Brevo: ['198.51.100.44', 'sender-sib.com'],
  Stripe: ['198.51.100.48', 'stripe.com'],
  Xero: ['198.51.100.52', 'xero.com'],
  Freshdesk: ['198.51.100.56', 'freshdesk.com'],
  Salesforce: ['198.51.100.60', 'salesforce.com'],
} as const;

/** A known service with a bounce domain of its own. `key` is the owner's signature there: whole, broken, or absent. */
function service(
  label: keyof typeof SERVICES,
  daily: number,
  { key, ...details }: Details & { readonly key?: 'pass' | 'fail' } = {},
): Traffic {
  const [address, domain] = SERVICES[label];
  const own = key === undefined ? [] : [`${key} ${details.author ?? 'own'} s2`];
  return {
    ...{ from: at(address), daily, author: 'own', label },
    ...{ spf: `pass ${domain}`, dkim: [...own, `pass ${domain} x`] },
    ...details,
  };
}

/** A gateway of a service, by which the owner sends. */
const mimecast = (daily: number, details: Details) =>
  server(daily, {
    ...{ from: at('198.51.100.70'), ptr: 'us-1.mimecast.com', label: 'Mimecast' },
    ...details,
  });

/** A forwarder that rewrites the sender and breaks the signature of the owner's server. */
function forwarder(domain: string, daily: number, details: Details = {}): Traffic {
  return {
    ...{ from: at('198.51.100.100'), daily, author: 'own', ptr: `mx.${domain}`, label: domain },
    ...{ spf: `pass ${domain}`, dkim: ['fail own mail'] },
    ...details,
  };
}

/** A sender whom nobody has listed, with SPF and a signature of its own organisation. */
function stranger(domain: string, daily: number, details: Details = {}): Traffic {
  return {
    ...{ from: at('198.51.100.140'), daily, author: 'own', ptr: `out.${domain}`, label: domain },
    ...{ spf: `pass bounce.${domain}`, dkim: [`pass ${domain} k1`] },
    ...details,
  };
}

/** Mail that fails everything, a message from each of so many addresses in many networks, others every day. */
function botnet(addresses: number, daily: number, details: Details = {}): Traffic {
  const from = (day: number) =>
    Array.from({ length: daily }, (_, i) => toScattered((day * daily + i) % addresses));
  return {
    ...{ from, daily, author: 'own', label: 'scattered' },
    ...{ spf: 'fail own', dkim: [] },
    ...details,
  };
}

/** Each is at a site of its own; the first 240 are of IPv4. */
const toScattered = (i: number) =>
  i < 240 ? `198.18.${i}.25` : `2001:db8:${(0xb000 + i).toString(16)}::25`;

function at(...addresses: readonly string[]): Traffic['from'] {
  return () => addresses;
}

const QUIET = { answer: 'reached', step: 'nothing', sender: null } as const;
const STRONGER = { answer: 'yes', step: 'stronger', sender: null } as const;
/** The step names the strangers that are looked at first. */
const FORGED = { ...STRONGER, sender: /scattered/ } as const;
const FAILING = { answer: 'not_yet', step: 'failing' } as const;

export const DOMAINS: readonly TableDomain[] = [
  // Services of the owner's that do not pass.
  {
    name: 'ses-never.example',
    ...{ policy: 'p=none', days: [45, 1] },
    traffic: [server(600), service('Amazon SES', 270, { key: 'fail' })],
    wanted: {
      ...FAILING,
      sender: 'Amazon SES',
      why: 'Its key has never verified: a third of the mail would be stopped.',
    },
  },
  {
    name: 'sendgrid-half.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      google(300),
      service('SendGrid', 200, { key: 'pass', days: [60, 17] }),
      service('SendGrid', 200, { key: 'fail', days: [16, 1] }),
    ],
    wanted: {
      ...FAILING,
      sender: 'SendGrid',
      why: 'Broken for 16 days: the alert has given up, the fault has not.',
    },
  },
  {
    name: 'ses-since-yesterday.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(200),
      service('Amazon SES', 400, { key: 'pass', days: [60, 2] }),
      service('Amazon SES', 400, { key: 'fail', days: [1, 1] }),
    ],
    wanted: {
      answer: 'not_yet',
      step: 'alert',
      sender: 'Amazon SES',
      why: 'It stopped signing correctly yesterday: that leads.',
    },
  },
  {
    name: 'helpdesk.example',
    ...{ policy: 'p=none', days: [40, 1] },
    traffic: [google(1_000), service('Zendesk', 40)],
    wanted: {
      ...FAILING,
      sender: 'Zendesk',
      why: 'A known service without set-up sends 4 % of the mail.',
    },
  },
  {
    name: 'crm.example',
    ...{ policy: 'p=quarantine', days: [50, 1] },
    traffic: [server(1_000), service('Salesforce', 14)],
    wanted: {
      ...FAILING,
      sender: 'Salesforce',
      why: '1.4 % of own mail fails, more than one in a hundred.',
    },
  },
  {
    name: 'tickets.example',
    ...{ policy: 'p=quarantine', days: [70, 1] },
    traffic: [google(500), service('Freshdesk', 90, { key: 'fail' })],
    wanted: {
      ...FAILING,
      sender: 'Freshdesk',
      why: 'Its broken key puts answers to customers into spam folders.',
    },
  },
  {
    name: 'second-server.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(700),
      server(60, {
        from: at('192.0.2.77'),
        ptr: 'mx2.own',
        spf: 'softfail own',
        dkim: [],
        label: 'mx2',
      }),
    ],
    wanted: {
      ...FAILING,
      sender: /mx2|192\.0\.2\.77|second-server/,
      why: 'A server with a name of the domain, confirmed in DNS, is missing in SPF.',
    },
  },
  {
    name: 'three-faults.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(800),
      service('HubSpot', 100, { key: 'fail' }),
      service('Zendesk', 20),
      forwarder('alumni-mail.example', 15),
    ],
    wanted: { ...FAILING, sender: 'HubSpot', why: 'The largest fault leads.' },
  },
  {
    name: 'own-subdomain.example',
    ...{ policy: 'p=reject sp=none', days: [60, 1] },
    traffic: [server(500), service('Brevo', 120, { key: 'fail', author: 'news.own' })],
    wanted: {
      ...FAILING,
      sender: 'Brevo',
      why: 'Newsletters of a subdomain fail, which sp=none lets through so far.',
    },
  },
  {
    name: 'usual-breakage.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      google(600),
      service('SendGrid', 400, { key: 'pass' }),
      service('SendGrid', 4, { key: 'fail' }),
    ],
    wanted: { ...STRONGER, why: 'One in a hundred signatures of a service breaks: that is usual.' },
  },

  // Own mail that the policy rejects.
  {
    name: 'rejected-invoices.example',
    ...{ policy: 'p=reject', days: [90, 1] },
    traffic: [google(900), service('Xero', 100)],
    wanted: {
      answer: 'reached',
      step: 'failing',
      sender: 'Xero',
      why: 'The policy is there, and rejects the invoices.',
    },
  },
  {
    name: 'rejected-server.example',
    ...{ policy: 'p=reject', days: [60, 1] },
    traffic: [
      google(400),
      server(50, {
        from: at('192.0.2.80'),
        ptr: 'web.own',
        spf: 'fail own',
        dkim: ['fail own mail'],
        label: 'web',
      }),
    ],
    wanted: {
      answer: 'reached',
      step: 'failing',
      sender: /web|192\.0\.2\.80|rejected-server/,
      why: 'A server of the owner is rejected each day.',
    },
  },

  // Domains in order, at each policy.
  {
    name: 'ready-none.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(500),
      google(300),
      service('Mailchimp', 200, { key: 'pass' }),
      forwarder('alumni-mail.example', 9, { reason: 'forwarded' }),
    ],
    wanted: { ...STRONGER, why: 'All own mail passes; under 1 % is passed on.' },
  },
  {
    name: 'ready-quarantine.example',
    ...{ policy: 'p=quarantine', days: [120, 1] },
    traffic: [google(300), service('Postmark', 300, { key: 'pass' }), botnet(200, 12)],
    wanted: { ...FORGED, why: 'All own mail passes, what fails is forged.' },
  },
  {
    name: 'in-order.example',
    ...{ policy: 'p=reject', days: [120, 1] },
    traffic: [server(900), forwarder('alumni-mail.example', 9), botnet(240, 40)],
    wanted: {
      ...QUIET,
      why: 'p=reject holds for all names, and stops only forgers and a few forwarded mails.',
    },
  },
  {
    name: 'spf-only.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(400), service('Brevo', 200, { spf: 'pass bounce.own', dkim: [] })],
    wanted: {
      ...{ answer: 'not_yet', step: 'sign', sender: '198.51.100.44' },
      why: 'A third rests on SPF alone, which a stronger policy must not: forwarded mail would be lost.',
    },
  },
  {
    name: 'mail-of-subdomains.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [service('SendGrid', 300, { key: 'pass', author: 'shop.own' })],
    wanted: { ...STRONGER, why: 'Only a subdomain sends, and all of it passes.' },
  },
  {
    name: 'newsletter-on-tuesdays.example',
    ...{ policy: 'p=none', days: [120, 1] },
    traffic: [service('Mailchimp', 5_000, { key: 'pass', every: 7 })],
    wanted: {
      ...STRONGER,
      why: 'It sends once a week, 20,000 in 30 days, and all passes: more days never come.',
    },
  },

  // Policies that hold for some of the mail.
  {
    name: 'sp-none-forged.example',
    ...{ policy: 'p=reject sp=none', days: [60, 1] },
    traffic: [server(500), botnet(240, 110, { author: 'billing.own' })],
    wanted: { ...FORGED, why: 'Forgers use subdomains, which sp=none does not protect.' },
  },
  {
    name: 'sp-none-unused.example',
    ...{ policy: 'p=reject sp=none', days: [60, 1] },
    traffic: [server(500), botnet(240, 20)],
    wanted: {
      answer: 'reached',
      step: 'stronger',
      sender: null,
      why: 'The names in use are protected; sp should follow before somebody forges a subdomain.',
    },
  },
  {
    name: 'np-none-forged.example',
    ...{ policy: 'p=reject sp=reject np=none', days: [60, 1] },
    traffic: [server(500), botnet(240, 60, { author: 'x7f3.own' })],
    wanted: {
      ...FORGED,
      why: 'Names that do not exist are forged, and np=none lets them through.',
    },
  },
  {
    name: 'pct-thirty.example',
    ...{ policy: 'p=reject pct=30', days: [60, 1] },
    traffic: [google(400), botnet(240, 30)],
    wanted: {
      answer: 'yes',
      step: 'enforce',
      sender: /scattered/,
      why: 'Receivers apply the policy to 30 of 100 messages.',
    },
  },
  {
    name: 'testing.example',
    ...{ policy: 'p=quarantine t=y', days: [60, 1] },
    traffic: [google(400), service('Stripe', 30, { key: 'pass' })],
    wanted: {
      answer: 'yes',
      step: 'enforce',
      sender: null,
      why: 'It is only tested so far, and nothing own fails.',
    },
  },
  {
    name: 'testing-with-fault.example',
    ...{ policy: 'p=reject t=y', days: [60, 1] },
    traffic: [google(400), service('Stripe', 30)],
    wanted: { ...FAILING, sender: 'Stripe', why: 'The test shows what would be lost: receipts.' },
  },

  // Domains that send no mail.
  {
    name: 'parked.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [botnet(1_500, 50)],
    wanted: {
      answer: 'not_yet',
      step: 'no_passing_mail',
      sender: null,
      why: 'Nothing passes for 30 days: the owner says that it sends no mail, then it is ready.',
    },
  },
  {
    name: 'parked-said.example',
    ...{ policy: 'p=none', days: [60, 1], sendsNoMail: true },
    traffic: [botnet(1_500, 50)],
    wanted: {
      answer: 'yes',
      step: 'lock',
      sender: null,
      why: 'By the owner’s word nothing can be lost.',
    },
  },
  {
    name: 'parked-young.example',
    ...{ policy: 'p=none', days: [4, 1], sendsNoMail: true },
    traffic: [botnet(240, 30)],
    wanted: { answer: 'yes', step: 'lock', sender: null, why: 'The owner’s word needs no days.' },
  },
  {
    name: 'parked-locked.example',
    ...{ policy: 'p=reject sp=reject', days: [120, 1], sendsNoMail: true },
    traffic: [botnet(1_500, 50, { author: 'www.own' })],
    wanted: { ...QUIET, why: 'Everything is rejected.' },
  },
  {
    name: 'parked-sp-none.example',
    ...{ policy: 'p=reject sp=none', days: [60, 1], sendsNoMail: true },
    traffic: [botnet(240, 25, { author: 'pay.own' })],
    wanted: {
      answer: 'yes',
      step: 'lock',
      sender: null,
      why: 'Its subdomains are forged, and sp=none lets them through.',
    },
  },
  {
    name: 'sends-after-all.example',
    ...{ policy: 'p=none', days: [60, 1], sendsNoMail: true },
    traffic: [google(25)],
    wanted: {
      answer: 'not_yet',
      step: 'sends_after_all',
      sender: null,
      why: 'People write mail there, against what was said: ask first.',
    },
  },

  // Few messages, few days, no days.
  {
    name: 'small-old.example',
    ...{ policy: 'p=none', days: [110, 1] },
    traffic: [google(12)],
    wanted: {
      ...STRONGER,
      why: '110 days without own mail that fails, though 360 messages a month.',
    },
  },
  {
    name: 'small-young.example',
    ...{ policy: 'p=none', days: [45, 1] },
    traffic: [google(12)],
    wanted: {
      answer: 'wait',
      step: 'wait',
      sender: null,
      why: 'Too few messages for 30 days, too few days for a small domain.',
    },
  },
  {
    name: 'small-fault.example',
    ...{ policy: 'p=none', days: [110, 1] },
    traffic: [google(12), service('Stripe', 1)],
    wanted: { ...FAILING, sender: 'Stripe', why: 'Receipts fail each day.' },
  },
  {
    name: 'new.example',
    ...{ policy: 'p=none', days: [6, 1] },
    traffic: [server(800)],
    wanted: {
      answer: 'wait',
      step: 'wait',
      sender: null,
      why: 'Six days do not show the senders of a month.',
    },
  },
  {
    name: 'new-fault.example',
    ...{ policy: 'p=none', days: [12, 1] },
    traffic: [server(800), service('SendGrid', 300, { key: 'fail' })],
    wanted: {
      ...FAILING,
      sender: 'SendGrid',
      why: 'Nobody needs 30 days to see that this key is broken.',
    },
  },
  {
    name: 'no-reports.example',
    ...{ policy: 'p=none', days: [0, 1] },
    traffic: [],
    wanted: { answer: 'wait', step: 'first_reports', sender: null, why: 'Nothing has come yet.' },
  },
  {
    name: 'silent-long.example',
    ...{ policy: 'p=none', days: [100, 41] },
    traffic: [server(500)],
    wanted: {
      answer: 'wait',
      step: 'silent',
      sender: null,
      why: 'No report for 40 days: what was good then says nothing of today.',
    },
  },
  {
    name: 'silent-since-tuesday.example',
    ...{ policy: 'p=quarantine', days: [60, 6] },
    traffic: [server(500)],
    wanted: {
      answer: 'wait',
      step: 'alert',
      sender: null,
      why: 'Daily reports have stopped: nobody raises a policy blind.',
    },
  },

  // Records and states.
  {
    name: 'two-records.example',
    ...{ policy: 'p=none', dns: 'v=DMARC1; p=none\nv=DMARC1; p=reject', days: [60, 1] },
    traffic: [server(500)],
    wanted: {
      answer: 'yes',
      step: 'one_record',
      sender: null,
      why: 'Receivers ignore both records; the mail itself is ready.',
    },
  },
  {
    name: 'no-record.example',
    ...{ policy: 'p=none', dns: null, days: [60, 1] },
    traffic: [server(500)],
    wanted: {
      answer: 'yes',
      step: 'publish_record',
      sender: null,
      why: 'The record is gone; the mail itself is ready.',
    },
  },
  {
    name: 'watched.example',
    ...{
      policy: 'p=quarantine',
      dns: 'v=DMARC1; p=quarantine; rua=mailto:d@watched.example',
      days: [60, 1],
    },
    traffic: [server(500), botnet(240, 12)],
    wanted: { ...FORGED, why: 'DNS and reports agree, and nothing own fails.' },
  },
  {
    name: 'paused.example',
    ...{ policy: 'p=none', days: [60, 1], isPaused: true },
    traffic: [server(500)],
    wanted: {
      answer: 'yes',
      step: 'resume',
      sender: null,
      why: 'Its mail is in order, but nobody watches it.',
    },
  },

  // What others pass on.
  {
    name: 'much-forwarded.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(900), forwarder('alumni-mail.example', 90, { reason: 'forwarded' })],
    wanted: {
      answer: 'not_yet',
      step: 'forwarded',
      sender: 'alumni-mail.example',
      why: '9 % of the mail is passed on and would be stopped: look at it first.',
    },
  },
  {
    name: 'groups.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [
      google(900),
      forwarder('googlegroups.com', 75, {
        ptr: 'mail-yb1-f56.google.com',
        dkim: ['fail own google', 'pass googlegroups.com g'],
        label: 'Google Groups',
      }),
    ],
    wanted: {
      answer: 'not_yet',
      step: 'forwarded',
      sender: 'Google Groups',
      why: 'A list carries more than 5 % of the mail.',
    },
  },
  {
    name: 'little-forwarded.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(900), forwarder('alumni-mail.example', 27, { reason: 'forwarded' })],
    wanted: { ...STRONGER, why: '3 % is passed on, which is usual.' },
  },
  {
    name: 'kept-signature.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(600), forwarder('alumni-mail.example', 250, { dkim: ['pass own mail'] })],
    wanted: { ...STRONGER, why: 'The forwarder keeps the signature: nothing fails.' },
  },
  {
    name: 'mailing-list.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(800),
      forwarder('lists.club.example', 20, {
        ptr: 'lists.club.example',
        dkim: [],
        reason: 'mailing_list',
      }),
    ],
    wanted: {
      ...STRONGER,
      why: 'A list that strips signatures, said so by the receiver, has 2.4 % of the mail.',
    },
  },

  // Senders whom nobody has listed.
  {
    name: 'newsletter-agency.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(700), stranger('mass-mail.example', 200)],
    wanted: {
      ...FAILING,
      sender: 'mass-mail.example',
      why: 'A steady 22 % from one address may be an agency of the owner: ask about it by name.',
    },
  },
  {
    name: 'web-form.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      google(700),
      stranger('webhost.example', 30, {
        ptr: 'web12.webhost.example',
        spf: 'softfail own',
        dkim: [],
      }),
    ],
    wanted: {
      ...FAILING,
      sender: /webhost\.example|198\.51\.100\.140/,
      why: 'Most likely the form of the owner’s web site: ask, do not accuse.',
    },
  },
  {
    name: 'private-address.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      google(500),
      {
        ...stranger('-', 25, {
          from: at('10.20.30.40'),
          spf: null,
          dkim: [],
          label: '10.20.30.40',
        }),
        ptr: '',
      },
    ],
    wanted: {
      ...FAILING,
      sender: /10\.20\.30\.40|private/i,
      why: 'A private address is in somebody’s own network: ask about it.',
    },
  },
  {
    name: 'accountant.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      google(400),
      stranger('tax-office.example', 20, {
        ptr: 'mail-am6eur05on2040.outbound.protection.outlook.com',
        spf: 'pass tax-office.example',
        dkim: ['pass taxoffice.onmicrosoft.com selector1'],
      }),
    ],
    wanted: {
      ...FAILING,
      sender: /tax-?office|Microsoft/,
      why: 'An accountant writes in the owner’s name with its own Microsoft 365: ask.',
    },
  },
  {
    name: 'unnamed-relay.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(500),
      {
        ...stranger('-', 25, {
          from: at('2001:db8:25::25'),
          spf: 'softfail own',
          dkim: [],
          label: '2001:db8:25::25',
        }),
        ptr: '',
      },
    ],
    wanted: {
      ...FAILING,
      sender: /2001:db8:25:|Relay Network/,
      why: 'A relay without a name sends each day: ask.',
    },
  },
  {
    name: 'new-shop-mailer.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(2_000), stranger('shop-mailer.example', 40, { days: [1, 1] })],
    wanted: {
      answer: 'yes',
      step: 'alert',
      sender: /198\.51\.100\.140/,
      why: 'Somebody new has sent 40 failing messages: look, though the month is in order.',
    },
  },
  {
    name: 'new-hubspot.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(600), service('HubSpot', 300, { days: [1, 1] })],
    wanted: {
      answer: 'not_yet',
      step: 'alert',
      sender: 'HubSpot',
      why: 'A service was begun with yesterday, without set-up.',
    },
  },

  // Own mail that looks like somebody else's.
  {
    name: 'word-against-mail.example',
    ...{ policy: 'p=none', days: [60, 1], sendsNoMail: true },
    traffic: [google(25), service('Amazon SES', 20, { key: 'fail' })],
    wanted: {
      answer: 'not_yet',
      step: 'sends_after_all',
      sender: null,
      why: 'It sends, against what was said, and a part of it would be rejected.',
    },
  },
  {
    name: 'new-server-elsewhere.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(540),
      {
        ...stranger('-', 60, {
          from: at('198.51.100.201'),
          spf: 'fail own',
          dkim: [],
          label: '198.51.100.201',
        }),
        ptr: '',
      },
    ],
    wanted: {
      ...FAILING,
      sender: '198.51.100.201',
      why: 'One address that sends each day is no botnet, though SPF refuses it: ask.',
    },
  },
  {
    name: 'branch-offices.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(100),
      botnet(12, 12, {
        from: () => Array.from({ length: 12 }, (_, i) => toScattered(20 * i)),
        every: 3,
      }),
    ],
    wanted: {
      answer: 'yes',
      step: 'stronger',
      sender: /scattered/,
      why: 'A dozen networks with a few messages each are scattered addresses, which the owner is asked to look at first: they may be printers.',
    },
  },
  {
    name: 'shop-in-cloud.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(500),
      botnet(40, 30, { ptr: 'ec2-198-18-0-25.compute-1.amazonaws.com', label: 'Amazon' }),
    ],
    wanted: {
      ...FAILING,
      sender: /Amazon|AWS/i,
      why: 'Servers at one cloud provider, all confirmed in DNS, may be a shop of the owner: ask.',
    },
  },
  {
    name: 'gateway.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(600),
      forwarder('eu.mimecast.com', 400, {
        ptr: 'eu-smtp-delivery-1.mimecast.com',
        label: 'Mimecast',
      }),
    ],
    wanted: {
      answer: 'not_yet',
      step: 'forwarded',
      sender: 'Mimecast',
      why: 'A gateway that carries 40 % is the owner’s, most likely: look at it first.',
    },
  },
  {
    name: 'rejected-newsletter.example',
    ...{ policy: 'p=reject', days: [60, 1] },
    traffic: [server(500), service('HubSpot', 150, { key: 'fail', author: 'news.own' })],
    wanted: {
      answer: 'reached',
      step: 'failing',
      sender: 'HubSpot',
      why: 'Without sp the policy of the domain holds, and rejects newsletters of a subdomain.',
    },
  },
  {
    name: 'small-once-broken.example',
    ...{ policy: 'p=none', days: [110, 1] },
    traffic: [google(12), service('Amazon SES', 3, { key: 'fail', days: [50, 45] })],
    wanted: {
      answer: 'wait',
      step: 'wait',
      sender: null,
      why: 'Own mail failed 45 days ago: a small domain waits for 90 quiet ones.',
    },
  },
  {
    name: 'receipts-never-pass.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [google(1_000), service('Stripe', 8)],
    wanted: {
      ...FAILING,
      sender: 'Stripe',
      why: 'Only 0.8 % of the mail, but all receipts: 240 a month would be stopped.',
    },
  },

  // Botnets.
  {
    name: 'botnet.example',
    ...{ policy: 'p=none', days: [45, 1] },
    traffic: [server(400), botnet(2_800, 93)],
    wanted: {
      ...FORGED,
      why: '2,800 addresses with a message each that SPF refuses are forged.',
    },
  },
  {
    name: 'mostly-forged.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [google(60), botnet(2_800, 540)],
    wanted: { ...FORGED, why: 'Nine in ten are forged; of the own mail all passes.' },
  },
  {
    name: 'softfail-botnet.example',
    ...{ policy: 'p=none', days: [45, 1] },
    traffic: [server(400), botnet(2_800, 93, { spf: 'softfail own' })],
    wanted: {
      ...STRONGER,
      sender: /scattered/i,
      why: 'SPF with ~all accuses nobody: one row of scattered addresses to look at.',
    },
  },

  // Senders that are judged by themselves, whatever their share.
  {
    name: 'payroll.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(50_000), payroll(400, [60, 4]), payroll(400, [3, 1], 'permerror own')],
    wanted: {
      ...FAILING,
      sender: 'payroll.payroll.example',
      why: 'Of 0.8 % of the mail all has failed for three days.',
    },
  },
  {
    name: 'payroll-week.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(900), payroll(20, [60, 8]), payroll(20, [7, 1], 'fail own')],
    wanted: {
      ...FAILING,
      sender: 'payroll.payroll-week.example',
      why: 'Two in a hundred, all failing for a week.',
    },
  },
  {
    name: 'payroll-yesterday.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(900), payroll(40, [60, 2]), payroll(40, [1, 1], 'fail own')],
    wanted: {
      ...FAILING,
      sender: 'payroll.payroll-yesterday.example',
      why: 'It stopped yesterday.',
    },
  },
  {
    name: 'payroll-mended.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(900),
      server(40, { from: at('192.0.2.77'), spf: 'fail own', dkim: [], days: [25, 20] }),
      server(40, { from: at('192.0.2.77'), days: [19, 1] }),
    ],
    wanted: { ...STRONGER, why: 'It was mended nineteen days ago.' },
  },
  {
    name: 'invoices-monthly.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(2_000), service('Xero', 7, { every: 3 })],
    wanted: { ...FAILING, sender: 'Xero', why: 'Seventy invoices a month were never set up.' },
  },
  {
    name: 'quarterly.example',
    ...{ policy: 'p=quarantine', days: [100, 1] },
    traffic: [server(900), service('Mailchimp', 5_000, { days: [60, 60] })],
    wanted: { ...FAILING, sender: 'Mailchimp', why: 'The next mailing would be refused.' },
  },
  {
    name: 'quarterly-80.example',
    ...{ policy: 'p=quarantine', days: [119, 1] },
    traffic: [server(900), service('Brevo', 3_000, { days: [80, 80] })],
    wanted: { ...FAILING, sender: 'Brevo', why: 'Eighty days ago is not over.' },
  },
  {
    name: 'quarterly-mended.example',
    ...{ policy: 'p=quarantine', days: [100, 1] },
    traffic: [
      server(900),
      service('Mailchimp', 5_000, { days: [60, 60] }),
      service('Mailchimp', 5_000, { key: 'pass', days: [9, 9] }),
    ],
    wanted: { ...STRONGER, why: 'The mailing after it passed.' },
  },

  {
    name: 'rotated.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(9_000),
      server(400, { from: at('192.0.2.79'), spf: null, dkim: ['pass own s1'], days: [60, 6] }),
      server(400, { from: at('192.0.2.79'), spf: null, dkim: ['permerror own s2'], days: [5, 1] }),
    ],
    wanted: {
      ...FAILING,
      sender: /\(DKIM permerror, selector s2\)\. Compare its key in DNS/,
      why: 'The key that signs now is the broken one, and SPF mends nothing.',
    },
  },
  {
    name: 'gateway-stopped.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [
      server(9_000),
      mimecast(300, { dkim: ['pass own gw'], days: [60, 4] }),
      mimecast(300, { spf: 'softfail own', dkim: ['fail own gw'], days: [3, 1] }),
    ],
    wanted: {
      ...FAILING,
      sender: 'Mimecast',
      why: 'Where nothing passes any more, the gateway breaks it, and nobody passes it on.',
    },
  },

  // Mail that rests on SPF alone.
  {
    name: 'unsigned.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(300, { dkim: [] }), botnet(20, 3, { every: 7, spf: 'softfail own' })],
    wanted: {
      answer: 'not_yet',
      step: 'sign',
      sender: /mail\.unsigned\.example/,
      why: 'Nothing is signed.',
    },
  },
  {
    name: 'half-signed.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(300), server(300, { dkim: [] })],
    wanted: {
      answer: 'not_yet',
      step: 'sign',
      sender: /mail\.half-signed/,
      why: 'Half of it is not signed.',
    },
  },
  {
    name: 'default-key.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [google(300, { dkim: ['pass x.20230601.gappssmtp.com 20230601'] })],
    wanted: {
      answer: 'not_yet',
      step: 'sign',
      sender: 'Google',
      why: 'Google signs as itself: one switch mends it.',
    },
  },
  {
    name: 'gateway-breaks.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [mimecast(400, { dkim: ['fail own s1'] })],
    wanted: {
      answer: 'not_yet',
      step: 'sign',
      sender: /gateway has to sign/,
      why: 'The gateway changes what was signed.',
    },
  },
  {
    name: 'unsigned-reject.example',
    ...{ policy: 'p=reject', days: [60, 1] },
    traffic: [server(300, { dkim: [] })],
    wanted: {
      answer: 'reached',
      step: 'sign',
      sender: /mail\.unsigned-reject/,
      why: 'It is there, and forwarded mail is lost.',
    },
  },

  // Strangers.
  {
    name: 'copied.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(900), botnet(240, 300, { spf: 'softfail own', dkim: ['fail own mail'] })],
    wanted: { ...STRONGER, sender: /scattered/, why: 'A copied signature is no forwarding.' },
  },
  {
    name: 'replayed.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [
      server(500),
      payroll(60, [60, 1], 'permerror own'),
      botnet(200, 3_000, { spf: 'none elsewhere.example', dkim: ['pass own mail'] }),
    ],
    wanted: { ...FAILING, sender: 'payroll.replayed.example', why: 'Replayed mail mends nothing.' },
  },
  {
    name: 'slow-key.example',
    ...{ policy: 'p=quarantine', days: [60, 1] },
    traffic: [server(985, { spf: null }), server(15, { spf: null, dkim: ['temperror own mail'] })],
    wanted: {
      ...STRONGER,
      why: 'One receiver’s DNS does not answer, and 98 % verify with that key.',
    },
  },
  {
    name: 'broken-list.example',
    ...{ policy: 'p=none', days: [60, 1] },
    traffic: [server(800), forwarder('club-list.example', 20)],
    wanted: {
      ...FAILING,
      sender: 'club-list.example',
      why: 'Nothing of it arrives intact, and no receiver says that it is a list: ask.',
    },
  },
  {
    name: 'six-mails.example',
    ...{ policy: 'p=none', days: [119, 1] },
    traffic: [server(1, { every: 9, days: [119, 20] })],
    wanted: { ...STRONGER, why: 'Six mails a month: three weeks without one are no silence.' },
  },
  {
    name: 'one-mail.example',
    ...{ policy: 'p=none', days: [30, 1], toldBy: 'nobody' },
    traffic: [server(5_000)],
    wanted: { answer: 'wait', step: 'wait', sender: null, why: 'Anybody may have sent that.' },
  },

  // What people said.
  {
    name: 'marked-legitimate.example',
    ...{ policy: 'p=none', days: [60, 1], marks: { 'domain mass-mail.example': 'legitimate' } },
    traffic: [server(700), stranger('mass-mail.example', 80)],
    wanted: {
      ...FAILING,
      sender: 'mass-mail.example',
      why: 'By the owner’s word it is legitimate, and it fails.',
    },
  },
  {
    name: 'marked-foreign.example',
    ...{ policy: 'p=none', days: [60, 1], marks: { 'domain mass-mail.example': 'unknown' } },
    traffic: [server(700), stranger('mass-mail.example', 80)],
    wanted: { ...STRONGER, why: 'By the owner’s word nobody knows it.' },
  },
  {
    name: 'marked-after-an-alert.example',
    ...{ policy: 'p=none', days: [60, 1], marks: { 'domain shop-mailer.example': 'unknown' } },
    traffic: [server(2_000), stranger('shop-mailer.example', 40, { days: [1, 1] })],
    wanted: { ...STRONGER, why: 'The alert asks whose it is, and the owner has said so.' },
  },
  {
    name: 'marked-address-after-an-alert.example',
    ...{ policy: 'p=none', days: [60, 1], marks: { '198.51.100.140': 'unknown' } },
    traffic: [server(2_000), stranger('shop-mailer.example', 40, { days: [1, 1] })],
    wanted: { ...STRONGER, why: 'The same, where the owner marked the address.' },
  },
  {
    name: 'marked-one-of-two-after-an-alert.example',
    ...{ policy: 'p=none', days: [60, 1], marks: { 'domain other-mailer.example': 'unknown' } },
    traffic: [
      server(2_000),
      stranger('shop-mailer.example', 40, { days: [1, 1] }),
      stranger('other-mailer.example', 30, { days: [1, 1], from: () => ['203.0.113.141'] }),
    ],
    wanted: {
      answer: 'yes',
      step: 'alert',
      sender: /198\.51\.100\.140/,
      why: 'The owner has said nothing of one of the two.',
    },
  },
  {
    name: 'marked-scattered.example',
    ...{ policy: 'p=none', days: [45, 1], marks: { scattered: 'unknown' } },
    traffic: [server(400), botnet(2_800, 93, { spf: 'softfail own' })],
    wanted: {
      ...STRONGER,
      why: 'The scattered addresses are not the owner’s, those that come later neither.',
    },
  },

  // Reports that are not believed.
  {
    name: 'flooded.example',
    ...{ policy: 'p=none', days: [60, 1], toldBy: 'established' },
    traffic: [
      server(800),
      service('Amazon SES', 200, { key: 'fail' }),
      server(1_100_000, { days: [30, 1], toldBy: 'nobody' }),
    ],
    wanted: {
      ...FAILING,
      sender: 'Amazon SES',
      why: '33 million passing messages by nobody change nothing: 20 % fails.',
    },
  },
  {
    name: 'slandered.example',
    ...{ policy: 'p=none', days: [60, 1], toldBy: 'established' },
    traffic: [
      server(800),
      service('SendGrid', 900, { key: 'fail', days: [30, 1], toldBy: 'nobody' }),
      service('HubSpot', 900, { key: 'fail', days: [5, 1], toldBy: 'new' }),
    ],
    wanted: { ...STRONGER, why: 'Failures that nobody established reports change nothing.' },
  },
  {
    name: 'only-nobody.example',
    ...{ policy: 'p=none', days: [60, 1], toldBy: 'nobody' },
    traffic: [server(500), service('Postmark', 60)],
    wanted: {
      ...FAILING,
      sender: 'Postmark',
      why: 'Without an established reporter all reports count.',
    },
  },
];
