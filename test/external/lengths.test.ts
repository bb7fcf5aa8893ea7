import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Api, serveApi } from '../support/api.ts';
import { aDomain, anAccount } from '../support/builders.ts';
import { takeIn } from '../support/ingest.ts';

interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly [keyword: string]: unknown;
}

const BOUNDS = ['maxLength', 'x-max-length', 'pattern', 'format', 'enum', 'x-extensible-enum'];
const mostOf = (shape: Shape) => shape['maxLength'] ?? shape['x-max-length'];

/** What Plumbline says in its own words, or names by its own tables. */
const OWN_WORDS = [
  ...['NextStep.text', 'NextStep.record', 'ErrorDetail.message'],
  ...['StepSender.sender', 'Source.sender', 'AlertCause.sender'],
  ...['SourceService.name', 'SourceService.domain', 'AlertCause.service', 'AlertSource.service'],
  ...['SourceNetwork.country', 'Versions.service', 'Versions.contract'],
  ...['ReportEvent', 'TlsReportEvent', 'ChangeEvent'].map((name) => `${name}.data.cursor`),
  'ChangeEvent.data.type',
];

function listTexts(place: string, shape: Shape): [string, Shape][] {
  const own: [string, Shape][] = shape.type === 'string' ? [[place, shape]] : [];
  const inside = Object.entries(shape.properties ?? {}).flatMap(([name, field]) =>
    listTexts(`${place}.${name}`, field),
  );
  return [...own, ...inside, ...(shape.items ? listTexts(place, shape.items) : [])];
}

// As it is written, with its references.
const contract = parse(readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8'));
const schemas: Readonly<Record<string, Shape>> = contract.components.schemas;
const texts = Object.entries(schemas).flatMap(([name, shape]) => listTexts(name, shape));

test('whoever makes columns guessed: each text has a bound, or is of our own words', () => {
  const unbounded = texts.filter(([, shape]) => BOUNDS.every((keyword) => !(keyword in shape)));
  expect(unbounded.map(([place]) => place).toSorted()).toEqual(OWN_WORDS.toSorted());
  expect(texts.filter(([, shape]) => mostOf(shape) !== undefined).length).toBeGreaterThan(40);
});

const long = (start: string) => start + 'ü'.repeat(4_500);

/** A report whose texts are longer than they are kept, where the standard gives no words. */
const REPORT = `<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">
  <report_metadata><org_name>${long('Org ')}</org_name><email>${long('a@')}</email><report_id>1</report_id>
    <date_range><begin>1773446400</begin><end>1773532799</end></date_range></report_metadata>
  <policy_published><domain>example.com</domain>${[
    'p',
    'sp',
    'np',
    'adkim',
    'aspf',
    'fo',
    'testing',
    'discovery_method',
  ]
    .map((name) => `<${name}>${long(name)}</${name}>`)
    .join('')}</policy_published>
  <record><row><source_ip>2001:db8:1111:2222:3333:4444:5555:6666</source_ip><count>7</count>
    <policy_evaluated><disposition>${long('d')}</disposition><dkim>${long('k')}</dkim><spf>${long('s')}</spf>
      <reason><type>${long('t')}</type><comment>${long('c')}</comment></reason></policy_evaluated></row>
    <identifiers><header_from>${long('h')}</header_from><envelope_from>${long('e')}</envelope_from>
      <envelope_to>${long('t')}</envelope_to></identifiers>
    <auth_results>
      <dkim><domain>${long('d')}</domain><selector>${long('s')}</selector><result>${long('r')}</result>
        <human_result>${long('h')}</human_result></dkim>
      <spf><domain>${long('d')}</domain><scope>${long('s')}</scope><result>${long('r')}</result>
        <human_result>${long('h')}</human_result></spf>
    </auth_results></record>
</feedback>`;

/** The longest text of each field of this name. */
function findLongest(value: unknown, longest: Map<string, number> = new Map(), name = '') {
  if (typeof value === 'string')
    longest.set(name, Math.max(longest.get(name) ?? 0, [...value].length));
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value))
      findLongest(inner, longest, Array.isArray(value) ? name : key);
  return longest;
}

async function readAll({ store, db, get }: Api) {
  const { key, id } = await anAccount(db);
  const domain = await aDomain(db, id, { name: 'example.com' });
  await takeIn(store, REPORT);
  const path = `/v1/external/domains/${domain.id}`;
  const range = 'from=2026-03-14&until=2026-03-14';
  const { body: reports } = await get(`${path}/reports`, { key });
  const records = `${path}/reports/${reports.data[0].id}/records`;
  const others = [
    records,
    `${path}/sources?${range}`,
    '/v1/external/changes?include=records',
    path,
  ];
  const bodies = [reports];
  // Each is held to the contract, and so to its bounds.
  for (const other of others) bodies.push((await get(other, { key })).body);
  return bodies;
}

test('a report with texts of any length is answered within the bounds, which are reached', async () => {
  const longest = findLongest(await readAll(await serveApi()));
  const reached = Object.fromEntries(
    texts.flatMap(([place, shape]) => {
      const [schema = '', name = ''] = place.split('.');
      const most = mostOf(shape);
      const isOfReports =
        /^(Report|PublishedPolicy|PolicyEvaluated|OverrideReason|Identifiers|DkimResult|SpfResult)$/;
      return isOfReports.test(schema) && most !== undefined ? [[name, most]] : [];
    }),
  );
  for (const [name, most] of Object.entries(reached))
    expect([name, longest.get(name)]).toEqual([name, most]);
});
