import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  loadOrganizationalDomains,
  loadOwnerDomains,
} from '../../../src/domain/dns/organizational-domain.ts';
import {
  createNamer,
  type NameContext,
  type NameEvidence,
} from '../../../src/domain/senders/service-name.ts';
import { parseGuides, parseServices } from '../../../src/domain/senders/services.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

let context: NameContext;

beforeAll(async () => {
  const toOrganizationalDomain = await loadOrganizationalDomains();
  const services = parseServices(read('src/judging/services/services.tsv'));
  context = { domain: 'example.com', services, toOrganizationalDomain };
});

interface Sent {
  readonly spf?: readonly [domain: string, result: string];
  readonly dkim?: readonly (readonly [domain: string, result: string])[];
  readonly messages?: number;
}

function toEvidence(sent: readonly Sent[], name?: string): NameEvidence {
  const results = sent.map(({ spf, dkim = [], messages = 1 }) => ({
    seen: {
      spf: { domain: spf?.[0] ?? null, result: spf?.[1] ?? null, isAligned: false },
      dkim: dkim.map(([domain, result]) => ({ domain, selector: 's', result })),
    },
    messages,
  }));
  return { results, name };
}

const LINES = read('test/fixtures/service-domains.tsv').trimEnd().split('\n');

test.each(LINES.map((line) => line.split('\t') as [string, string, string]))(
  '%s of %s is of %s',
  (by, domain, wanted) => {
    const sent: Sent = by === 'dkim' ? { dkim: [[domain, 'pass']] } : { spf: [domain, 'pass'] };
    const found = createNamer(context)(toEvidence([sent]));
    expect(found?.name ?? '-').toBe(wanted);
    expect(found?.by ?? by).toBe(by);
  },
);

const LINE =
  /^(forwarder|hosting|mailbox|marketing|security|software|transactional)\t\S.*\S\t[a-z0-9. -]+$/;
const SENDERS = read('test/fixtures/known-senders.tsv').trimEnd().split('\n');

describe('the list of services', () => {
  test.each(SENDERS.map((line) => line.split('\t') as [string, string, string]))(
    'has %s, by %s, as %s',
    (name, domain, kind) => {
      const found = createNamer(context)(toEvidence([{ dkim: [[domain, 'pass']] }]));
      expect(found).toMatchObject({ name, kind });
    },
  );

  test('is tried with 250 senders or more, each once', () => {
    const names = SENDERS.map((line) => line.split('\t')[0]);
    expect(new Set(names).size).toBe(SENDERS.length);
    expect(names.length).toBeGreaterThanOrEqual(250);
  });

  // The mail servers of that host have names below a suffix that it gives to its customers.
  test('has no suffix below which strangers have names, but for kasserver.com', async () => {
    const toOwnerDomain = await loadOwnerDomains();
    const isSuffix = (domain: string) =>
      toOwnerDomain(`stranger.${domain}`) === `stranger.${domain}`;
    expect([...context.services.keys()].filter(isSuffix)).toEqual(['kasserver.com']);
  });

  test('has whole lines, each name and each domain once, and only domains that are looked up', () => {
    const lines = read('src/judging/services/services.tsv').trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(LINE);
    expect(new Set(lines.map((line) => line.split('\t')[1])).size).toBe(lines.length);
    const domains = lines.flatMap((line) => line.split('\t')[2]?.split(' ') ?? []);
    expect(new Set(domains).size).toBe(domains.length);
    expect(domains.filter((one) => context.toOrganizationalDomain(one) !== one)).toEqual([]);
  });
});

describe('a service is named', () => {
  test('by a signature before SPF, and by SPF before a name in DNS', () => {
    const signed: Sent = { dkim: [['sendgrid.net', 'pass']], spf: ['amazonses.com', 'pass'] };
    const sent: Sent = { spf: ['amazonses.com', 'pass'] };
    const name = 'mx.mailgun.net';
    const of = (...all: Sent[]) => createNamer(context)(toEvidence(all, name));
    expect(of(signed)).toMatchObject({
      name: 'Twilio SendGrid',
      by: 'dkim',
      domain: 'sendgrid.net',
    });
    expect(of(sent)).toMatchObject({ name: 'Amazon SES', by: 'spf', domain: 'amazonses.com' });
    expect(of({})).toMatchObject({ name: 'Mailgun', by: 'dns', domain: 'mailgun.net' });
  });

  test('by most messages where the evidence is of several', () => {
    const sent: readonly Sent[] = [
      { dkim: [['sendgrid.net', 'pass']], messages: 5 },
      { dkim: [['em.amazonses.com', 'pass']], messages: 3 },
      { dkim: [['amazonses.com', 'pass']], messages: 3 },
    ];
    expect(createNamer(context)(toEvidence(sent))?.name).toBe('Amazon SES');
  });

  test('not by mail of the monitored domain itself', () => {
    const evidence = toEvidence([{ dkim: [['mail.sendgrid.net', 'pass']] }], 'o1.sendgrid.net');
    expect(createNamer({ ...context, domain: 'sendgrid.net' })(evidence)).toBeUndefined();
  });
});

describe('a look-alike is not named', () => {
  test('when its own domain begins with the name of a service', () => {
    const domain = 'sendgrid.net.example';
    const sent: Sent = { dkim: [[domain, 'pass']], spf: [domain, 'pass'] };
    expect(createNamer(context)(toEvidence([sent], `o1.${domain}`))).toBeUndefined();
  });

  test('when the service is in a signature or an SPF domain that does not pass', () => {
    const sent: Sent = { dkim: [['sendgrid.net', 'fail']], spf: ['sendgrid.net', 'softfail'] };
    expect(createNamer(context)(toEvidence([sent]))).toBeUndefined();
  });

  test('when the service is in the header only', () => {
    const evidence = toEvidence([{ dkim: [['mailer.example', 'pass']] }]);
    const results = evidence.results.map((one) => ({
      ...one,
      seen: { ...one.seen, headerFrom: 'sendgrid.net' },
    }));
    expect(createNamer(context)({ ...evidence, results })).toBeUndefined();
  });
});

describe('a guide', () => {
  const guides = [...parseGuides(read('src/judging/services/guides.tsv'))];
  const squeeze = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

  test.each(guides)('of %s is of a service of the list, whole and short', (name, guide) => {
    const names = [...context.services.values()].map((service) => service.name);
    expect(names).toContain(name);
    expect(guide.term).toMatch(/^\S.{3,60}\S$/);
    expect(guide.text).toMatch(/^[A-Z].{20,300}\.$/);
  });

  test.each(guides)('of %s has an address of the service itself', (name, { url }) => {
    const { href, protocol, username, hostname } = new URL(url);
    expect(url.length).toBeLessThanOrEqual(300);
    expect({ href, protocol, username }).toEqual({ href: url, protocol: 'https:', username: '' });
    const [label = ''] = context.toOrganizationalDomain(hostname).split('.');
    expect(squeeze(name).includes(label) || label.includes(squeeze(name))).toBe(true);
  });
});
