import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { NextStep } from '../../src/domain/next-step.ts';
import type { Standing } from '../../src/domain/own-mail.ts';
import type { Obstacle } from '../../src/domain/readiness.ts';
import type { ReasonCode } from '../../src/domain/senders/sender.ts';
import { VERDICTS } from '../../src/external/verdicts.ts';

interface Contract {
  readonly paths: Readonly<Record<string, { get: { parameters: readonly { $ref: string }[] } }>>;
  readonly components: Readonly<Record<string, Record<string, object>>>;
}

const read = (path: string) =>
  readFileSync(new URL(`../../openapi/${path}`, import.meta.url), 'utf8');
const text = read('v1.yaml');
const { paths, components } = parse(text) as Contract;
/** Nothing refers to it: no answer has it. */
const BY_TYPE = 'AlertContextByType';
type Schemas = Readonly<Record<string, Record<'properties' | 'x-schema-by-type', object>>>;
const names = Object.entries(components)
  .filter(([kind]) => kind !== 'securitySchemes')
  .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));

test('the contract has components', () => {
  expect(names.length).toBeGreaterThan(20);
});

test.each(names.filter((name) => name !== `schemas/${BY_TYPE}`))('%s is referred to', (name) => {
  expect(text).toContain(`$ref: '#/components/${name}'`);
});

test('each type of alert has its context’s schema by a reference that every tool follows', () => {
  const { [BY_TYPE]: byType, AlertContext: context } = components['schemas'] as Schemas;
  expect(byType?.properties).toEqual(context?.['x-schema-by-type']);
});

/** oapi-codegen makes a type of each. */
test('a schema, a parameter and a response have different names', () => {
  const kinds = ['schemas', 'parameters', 'responses'] as const;
  const all = kinds.flatMap((kind) => Object.keys(components[kind] ?? {}));
  expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
});

/** Several generators make arguments of them, in this order. */
test('the parameters of a released operation keep their order, and new ones come after them', () => {
  const released = parse(read('released/v1.yaml')) as Contract;
  for (const [path, { get }] of Object.entries(released.paths)) {
    const own = paths[path]?.get.parameters.slice(0, get.parameters.length);
    expect(own, path).toEqual(get.parameters);
  }
});

/** Contexts have what was known when the alert fired. */
test('a field is required, but for the few that are asked for or depend on a type', () => {
  const schemas = Object.entries(components['schemas'] ?? {});
  const others = schemas.filter(([name]) => !/Context(?:ByType)?$/.test(name));
  expect(others.flatMap(([name, schema]) => listOptional(schema, name))).toEqual([
    'DomainOverview.what_changed',
    ...['ChangedReport.records', 'ChangedReport.unlisted_records'],
    ...['ChangeEvent.data.report_id', 'ChangeEvent.data.domain', 'AlertSource.service'],
    ...['Change.report', 'Change.report_id', 'Change.domain', 'Change.alert'],
    ...['Change.tls_report', 'Change.tls_report_id'],
  ]);
});

function listOptional(node: Node, name: string): string[] {
  const { properties = {}, required = [], items } = node;
  const inner = Object.entries(properties).flatMap(([key, one]) =>
    listOptional(one, `${name}.${key}`),
  );
  const own = Object.keys(properties).filter((key) => !required.includes(key));
  const ofItems = items === undefined ? [] : listOptional(items, name);
  return [...own.map((key) => `${name}.${key}`), ...inner, ...ofItems];
}

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
}

/** All codes of the rules: one that is missing here does not compile. */
const STEPS = {
  ...{
    resume: 1,
    first_reports: 1,
    one_record: 1,
    publish_record: 1,
    alert: 1,
    silent: 1,
    failing: 1,
  },
  ...{ forwarded: 1, no_passing_mail: 1, lock: 1, sends_after_all: 1, wait: 1, enforce: 1 },
  ...{ stronger: 1, policy_unknown: 1, nothing: 1, sign: 1 },
} satisfies Record<NextStep['kind'], 1>;
const OBSTACLES = {
  ...{ silent: 1, own: 1, undecided: 1, forwarded: 1, no_passing_mail: 1, sends_after_all: 1 },
  ...{ few_data: 1, stranger: 1, unsigned: 1, unproven: 1 },
} satisfies Record<Obstacle['kind'] | 'stranger', 1>;
const REASONS = {
  ...{ marked: 1, scattered: 1, signature_broken: 1, listed_forwarder: 1, signature_carried: 1 },
  ...{ receiver_says_forwarded: 1, alignment_strict: 1, partly_fails: 1, pass_not_counted: 1 },
  ...{ passes: 1, name_is_own: 1, service_as_itself: 1, private_address: 1, own_network: 1 },
  ...{ unlisted_domain: 1, spf_refuses: 1, nothing_authenticates: 1, signed_as_sister: 1 },
  ...{ other_customer: 1, free_mail: 1, signature_claimed: 1 },
} satisfies Record<ReasonCode, 1>;
const STANDINGS = {
  ...{ passing: 1, own: 1, undecided: 1, forwarded: 1, stranger: 1, foreign: 1 },
} satisfies Record<Standing, 1>;

test.each<readonly [schema: string, property: string | undefined, codes: readonly string[]]>([
  ['NextStep', 'code', Object.keys(STEPS)],
  ['ReadinessReason', 'code', Object.keys(OBSTACLES)],
  ['Source', 'reasons', Object.keys(REASONS)],
  ['Standing', undefined, Object.keys(STANDINGS)],
  ['Verdict', undefined, VERDICTS],
])('%s describes each code of its %s', (name, property, codes) => {
  const schema: {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, { readonly description: string }>>;
  } = components['schemas']?.[name] ?? {};
  const of = property === undefined ? schema : schema.properties?.[property];
  const described = of?.description ?? '';
  const met = [...described.matchAll(/`([a-z_]+)`:\s/g)].map(([, code]) => code);
  expect(met.sort()).toEqual(codes.toSorted());
});
