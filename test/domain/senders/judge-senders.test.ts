import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  loadOrganizationalDomains,
  loadOwnerDomains,
} from '../../../src/domain/dns/organizational-domain.ts';
import { addUp } from '../../../src/domain/pass-rate.ts';
import { judgeSenders } from '../../../src/domain/senders/judge-senders.ts';
import { createNamer } from '../../../src/domain/senders/service-name.ts';
import { parseServices } from '../../../src/domain/senders/services.ts';
import type { Mark } from '../../../src/domain/sources/source.ts';
import { runInTurns } from '../../../src/judging/turns.ts';
import { parseDomain, readTable, type TableDomain } from './verdicts-table.ts';

const TSV = new URL('../../../src/judging/services/services.tsv', import.meta.url);
const services = parseServices(readFileSync(TSV, 'utf8'));
const toOwnerDomain = await loadOwnerDomains();
const toOrganizationalDomain = await loadOrganizationalDomains();
const TABLE = readTable(toOwnerDomain);

async function judgeDomain({ domain, modes, marks, wanted }: TableDomain, more: Marks = {}) {
  const nameService = createNamer({ domain, services, toOrganizationalDomain });
  const all = wanted.flatMap(({ mail }) => mail);
  const work = judgeSenders(all, {
    ...{ domain, modes, nameService, toOrganizationalDomain: toOwnerDomain },
    findMark: (subject) => more[subject] ?? marks.get(subject),
    isSister: (name) => toOwnerDomain(name) === 'sister-brand.example',
  });
  const judged = await runInTurns(work);
  const senders = new Set(all.map(({ address }) => judged.of(address)));
  return { ...judged, senders: [...senders].filter((sender) => sender !== undefined) };
}

type Marks = Readonly<Record<string, Mark>>;

/** One more domain, by lines of the table. */
const judgeLines = (lines: readonly string[], marks?: Marks) =>
  judgeDomain(parseDomain(`own.example: a test\n${lines.join('\n')}`, toOwnerDomain), marks);

const JUDGED = await Promise.all(
  TABLE.map(async (one) => ({ ...one, judged: await judgeDomain(one) })),
);

describe.each(JUDGED)('$title', ({ judged, ...one }) => {
  test.each(one.wanted)('$line', ({ mail, verdict }) => {
    const verdicts = mail.map(({ address }) => judged.of(address)?.verdict);
    expect([...new Set(verdicts)]).toEqual([verdict]);
  });

  test('each name has one verdict, and messages are counted once', () => {
    const { senders } = judged;
    expect(new Set(senders.map(({ title }) => title)).size).toBe(senders.length);
    expect(new Set(senders.map(({ key }) => key)).size).toBe(senders.length);
    const all = one.wanted.flatMap(({ mail }) => mail);
    expect(addUp(senders)).toEqual(addUp(all));
    expect(senders.reduce((sum, { sources }) => sum + sources, 0)).toBe(all.length);
    for (const { reasons, reason } of senders) {
      expect(reasons.length).toBeGreaterThan(0);
      expect(reason.map((part) => (typeof part === 'string' ? part : part.name)).join('')).toMatch(
        /^[A-Z].*\.$/,
      );
    }
  });
});

test('the table has 40 domains and more, and 150 sources and more', () => {
  expect(TABLE.length).toBeGreaterThanOrEqual(40);
  expect(TABLE.flatMap(({ wanted }) => wanted).length).toBeGreaterThanOrEqual(150);
});

const OWN = '192.0.2.10 | - | AS64500 Own | 5000 spf=pass:own dkim=pass:own:s1 | yours | Own.';
/** What nothing authenticates. */
const SEEN = {
  ...{ headerFrom: 'own.example', isDkimAligned: false, isForwarded: false },
  spf: { domain: 'own.example', result: 'fail', isAligned: false },
};
const GOOGLE = 'mail-a.google.com | AS64510 Google';

describe('a sender', () => {
  test('is one for all addresses of a service, and another one for what it passes on', async () => {
    const { senders, of } = await judgeLines([
      `198.51.100.1 | ${GOOGLE} | 900 spf=pass:own dkim=pass:own:g | - | -`,
      `198.51.100.2 | ${GOOGLE} | 800 spf=pass:own dkim=pass:own:g | - | -`,
      `198.51.100.3 | ${GOOGLE} | 70 spf=pass:gmail.com dkim=pass:own:g | - | -`,
      `198.51.100.4 | ${GOOGLE} | 20 spf=pass:gmail.com | - | -`,
    ]);
    expect(
      senders.map(({ key, title, sources, messages }) => [key, title, sources, messages]),
    ).toEqual([
      ['service Google', 'Google', 2, 1700],
      ['service Google passes on', 'Google, forwarding', 1, 70],
      ['service Google others', 'People at gmail.com', 1, 20],
    ]);
    expect(of('198.51.100.2')).toBe(senders[0]);
    expect(of('192.0.2.77')).toBeUndefined();
  });

  test('has a look for a signature of which the month knows nothing: a page of 120 days failed', async () => {
    const { lookOf } = await judgeLines([
      OWN,
      `198.51.100.9 | ${GOOGLE} | 60 spf=fail:own | - | -`,
    ]);
    const older = { ...SEEN, dkim: [{ domain: 'own.example', selector: 'old', result: 'fail' }] };
    expect(lookOf(older, '198.51.100.9')).toBe('refused');
  });

  test('of a network is told apart from others in it, whose name is whole where they are alone', async () => {
    const other = '198.51.100.9 | - | AS64500 Own | 60 spf=fail:own | - | -';
    const listTitles = async (...lines: string[]) =>
      (await judgeLines(lines)).senders.map(({ title }) => title);
    expect(await listTitles(OWN, other)).toEqual(['AS64500 Own', 'AS64500 Own, others']);
    expect(await listTitles(other)).toEqual(['AS64500 Own']);
  });

  test('has the signature that breaks most, with its selector, and the days of all addresses', async () => {
    const { senders } = await judgeLines([
      '198.51.100.1 | - | - | 50 spf=pass:sendgrid.net dkim=fail:own:s1 + 9 spf=pass:sendgrid.net dkim=fail:own:s2 | - | -',
      '198.51.100.2 | - | - | 20 spf=pass:sendgrid.net dkim=permerror:own:s2 + 30 spf=pass:sendgrid.net dkim=fail:own:s2 | - | -',
    ]);
    expect(senders[0]).toMatchObject({
      ...{ key: 'service Twilio SendGrid', verdict: 'needs_setup', sources: 2 },
      ...{
        reasons: ['signature_broken', 'service_as_itself'],
        broken: { domain: 'own.example', selector: 's2' },
      },
      ...{ firstDay: '2026-05-01', lastDay: '2026-05-30', messages: 109, aligned: 0 },
      service: { by: 'spf', domain: 'sendgrid.net' },
    });
  });

  test('that a mark is of keeps the mark for addresses that come later', async () => {
    const marks = { 'domain mailer.example': 'unknown', scattered: 'unknown' } as const;
    const later = '203.0.113.9 | - | - | 3 spf=pass:x.mailer.example | - | -';
    expect((await judgeLines([OWN, later], marks)).of('203.0.113.9')).toMatchObject({
      ...{ key: 'domain mailer.example', verdict: 'forged', mark: 'unknown' },
    });
    // There was a botnet, and now one address is left.
    const last = '203.0.113.9 | - | - | 1 spf=softfail:own | - | -';
    expect((await judgeLines([OWN, last], marks)).of('203.0.113.9')).toMatchObject({
      ...{ key: 'scattered', isScattered: true, verdict: 'forged' },
    });
  });

  test('is the address itself where that has a mark, which leaves the others as they were', async () => {
    const lines = [1, 2].map((i) => `198.51.100.${i} | - | - | 50 spf=pass:zendesk.com | - | -`);
    const { senders } = await judgeLines(lines, { '198.51.100.1': 'unknown' });
    expect(senders.map(({ key, title, verdict }) => [key, title, verdict])).toEqual([
      ['198.51.100.1', '198.51.100.1', 'forged'],
      ['service Zendesk', 'Zendesk', 'needs_setup'],
    ]);
  });
});

test('what reporters state of a botnet is one row, whose title says so', async () => {
  const { senders } = await judgeLines([
    OWN,
    '2001:db8:*::1 x2800 | - | - | 1-3 spf=fail:own | - | -',
  ]);
  expect(senders.map(({ title, isScattered, sources }) => [title, isScattered, sources])).toEqual([
    ['AS64500 Own', false, 1],
    ['2,800 scattered addresses, likely one botnet', true, 2800],
  ]);
});

const PATTERNS = TABLE.flatMap(({ wanted }) => wanted).flatMap(({ line }) =>
  (line.split(' | ')[3] ?? '').split(' + '),
);

test('nothing that is not the owner’s makes own mail another’s', async () => {
  const pattern = fc.constantFrom(...PATTERNS);
  await fc.assert(
    fc.asyncProperty(fc.array(pattern, { maxLength: 30 }), async (patterns) => {
      const others = patterns.map((one, i) => `203.0.113.${i} | - | - | ${one} | - | -`);
      const { of } = await judgeLines([OWN.replace('5000', '900000'), ...others]);
      expect(['yours', 'needs_setup']).toContain(of('192.0.2.10')?.verdict);
    }),
    { numRuns: 200 },
  );
});
