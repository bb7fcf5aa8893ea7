import { expect, test } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import { formatCount, formatPassRate } from '../../src/domain/text.ts';
import {
  aDomain,
  aKey,
  anAlert,
  aRecord,
  aReportOf,
  aSignature,
  NOW,
  receive,
} from '../support/builders.ts';
import { onTestDay, toReadable } from '../support/visitor.ts';

/*
 * All numbers of the overview and of a domain's page are taken out of their sections, and each has to be one that the API has,
 * or a sum or a rate of such: a section or a number that nobody thought of fails.
 */

type Row = Readonly<Record<string, number> & Record<string, unknown>>;

/** A number of messages, how many failed, and the rate, as pages write them. */
function figuresOf(rows: readonly Row[], passed = 'aligned_messages'): string[] {
  const add = (name: string) => rows.reduce((sum, row) => sum + Number(row[name]), 0);
  const [messages, aligned] = [add('total_messages'), add(passed)];
  const rate = formatPassRate({ messages, aligned });
  const inColumn = `${Number(rate.slice(0, -1)).toFixed(2)}%`;
  return [...[messages, messages - aligned].map(formatCount), rate, inColumn];
}

const eachAndAll = (rows: readonly Row[], passed?: string) => [
  ...rows.flatMap((row) => figuresOf([row], passed)),
  ...figuresOf(rows, passed),
];

/** As pages write a change in points. */
const changeOf = ({ change }: Row) => Math.abs(Number(change)).toFixed(2);

const SECTION = /<(section|details)[^>]*?(?:aria-labelledby|aria-label)="([^"]+)".*?<\/\1>/gs;
/** What is no figure of a domain: marks of axes, moments, names, and the lengths of ranges. */
const NOISE = [/<text class="tick.*?<\/text>/gs, /, from \d+%<\/figcaption>/g];
const WORDS = [
  /\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: \d{4})?/g,
  /\b\d+ (?:second|minute|hour|day)s? ago/g,
  /\b\d+\.\d+\.\d+\.\d+\b/g,
  /7 days 30 days 90 days 1 year/g,
  /\b30 days\b/g,
];

function listNumbers(page: string): Map<string, string[]> {
  const sections = [...page.matchAll(SECTION)].map(([text, , name = '']) => {
    const bare = NOISE.reduce((rest, pattern) => rest.replace(pattern, ''), text);
    const words = WORDS.reduce((rest, pattern) => rest.replace(pattern, ''), toReadable(bare));
    return [name, words.match(/\d[\d,]*(?:\.\d+)?%?/g) ?? []] as const;
  });
  return new Map(sections.map(([name, numbers]) => [name, [...numbers]]));
}

test('each number of the overview and of a domain’s page is one that the API has', async () => {
  const { api, accountId, browser } = await onTestDay();
  const { key } = await aKey(api.db, accountId);
  const { id, name } = await aDomain(api.db, accountId, { name: 'one.example' });
  const failed = { spf: 'fail', dkim: 'fail' } as const;
  const reports = Array.from({ length: 40 }, (_, i) => {
    const begin = `${addDays('2026-03-15', -1 - i)}T00:00:00Z`;
    const records = [
      aRecord({ sourceIp: '192.0.2.1', count: 70 + i, spf: 'pass' }),
      aRecord({ sourceIp: '192.0.2.2', count: 11, ...failed, disposition: 'reject' }),
      aRecord({
        sourceIp: '203.0.113.3',
        count: 7,
        ...failed,
        headerFrom: `shop.${name}`,
        disposition: 'none',
      }),
      aRecord({
        ...{ sourceIp: '198.51.100.4', count: 3, ...failed, disposition: 'quarantine' },
        signatures: [aSignature({ domain: name, result: 'fail' })],
      }),
    ];
    const orgName = i % 3 === 0 ? 'Big Mail' : 'Small Mail';
    return aReportOf(records, {
      domain: name,
      begin,
      orgName,
      policy: { p: 'reject', sp: 'none' },
    });
  });
  await receive(api.db, reports);
  const aside = aReportOf([aRecord({ count: 4_321 })], {
    domain: name,
    begin: '2026-03-13T00:00:00Z',
  });
  await receive(api.db, [aside], NOW, { authenticated: '', claimed: ['stranger.example'] });
  await anAlert(api.db, { accountId, domainId: id });

  const ask = async (path: string) => (await api.get(`/v1/external/${path}`, { key })).body;
  const { data: domain } = await ask(`domains/${id}`);
  const { from, until } = domain.figures;
  const range = `from=${from}&until=${until}&limit=200`;
  const { data: days } = await ask(`domains/${id}/days?${range}`);
  const { data: sources } = await ask(`domains/${id}/sources?${range}`);
  const { data: alerts } = await ask(`alerts?domain_id=${id}&state=open`);
  const { data: listed, total } = await ask(`reports?domain_id=${id}&limit=200`);
  const { data: overview } = await ask('overview');

  const ofText = (text: string): string[] => text.match(/\d[\d,]*(?:\.\d+)?%?/g) ?? [];
  const steps = ofText(domain.next_step.text);
  const setAside = [domain.figures.set_aside_reports, domain.figures.set_aside_messages];
  const ofAlerts = alerts.flatMap(({ context }: { context: object }) =>
    Object.values(context).flatMap((value) => [`${value}`, `${value}%`]),
  );
  const senders = [...Map.groupBy(sources as Row[], ({ sender }) => sender).values()];
  const counts = (rows: readonly Row[], ...names: string[]) =>
    rows.flatMap((row) =>
      names.flatMap((of) => (row[of] === null ? [] : formatCount(Number(row[of])))),
    );
  const { reasons } = domain.readiness;
  const figures: readonly Row[] = overview.map((one: { figures: Row }) => one.figures);
  const allowed: Readonly<Record<string, readonly string[]>> = {
    next: steps,
    alerts: ofAlerts,
    readiness: [
      ...eachAndAll(domain.mail),
      ...figuresOf(domain.mail_of_subdomains),
      ...counts(domain.mail, 'sources'),
      ...counts(reasons, 'messages', 'sources', 'data_days', 'days_to_go'),
      ...counts([domain.failed_dispositions], 'none', 'quarantine', 'reject', 'other'),
      ...senders.flatMap((some) => [...figuresOf(some), `${some.length}`]),
    ],
    traffic: [
      ...eachAndAll(days),
      ...setAside.map(formatCount),
      ...alerts.map((_: unknown, i: number) => `${i + 1}`),
    ],
    signatures: eachAndAll(domain.signatures, 'verified_messages'),
    reporters: eachAndAll(domain.reported_by),
    reports: [...eachAndAll(listed), `${total}`, '8'],
    'sends-no-mail': [],
    'All domains': [...figuresOf(figures), ...figures.map(changeOf)],
    domains: [
      ...[...eachAndAll(figures), ...figures.map(changeOf), ...steps, `${overview.length}`],
      ...counts(figures, 'set_aside_reports', 'set_aside_messages'),
    ],
  };
  const met = new Map([
    ...listNumbers((await browser.get('/settings/overview')).text),
    ...listNumbers((await browser.get(`/settings/domains/${id}`)).text),
  ]);
  const strange = [...met].flatMap(([section, numbers]) =>
    numbers.filter((one) => !allowed[section]?.includes(one)).map((one) => `${section}: ${one}`),
  );
  expect(strange).toEqual([]);
  for (const section of [
    'readiness',
    'traffic',
    'signatures',
    'reporters',
    'reports',
    'All domains',
    'domains',
  ])
    expect(met.get(section)?.length).toBeGreaterThan(2);
});
