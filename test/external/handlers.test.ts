import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, test } from 'vitest';
import { parse } from 'yaml';
import type { components, operations } from '../../generated/v1.d.ts';
import {
  type Call,
  type Handler,
  type Handlers,
  handlers,
} from '../../src/external/operations/handlers.ts';
import type { JsonText } from '../../src/store/lists/json.ts';

/* `tsc` checks this file: a `@ts-expect-error` without an error is an error. */

test('every operation of the contract has a handler', () => {
  const contract = parse(
    readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8'),
  ) as { paths: Record<string, { get: { operationId: string } }> };
  const operationIds = Object.values(contract.paths).map(({ get }) => get.operationId);
  expect(Object.keys(handlers).toSorted()).toEqual(operationIds.toSorted());
});

test('an operation without a handler does not compile', () => {
  expectTypeOf<keyof Handlers>().toEqualTypeOf<keyof operations>();
  const { listAlerts, ...others } = handlers;
  // @ts-expect-error listAlerts has no handler.
  const incomplete: Handlers = others;
  expect(incomplete).not.toHaveProperty('listAlerts');
  expect(listAlerts).toBeTypeOf('function');
});

test('a handler whose items do not fit the contract does not compile', () => {
  type Domain = components['schemas']['Domain'];
  const head = { total: 0, version: 'v' };
  const items = <Item>(...texts: string[]) => texts as JsonText<Item>[];
  const answer = <PageOf>(page: PageOf) => ({
    ...{ head, key: '50 0', isFirst: true, read: async () => page },
  });
  const fits: Handler<'listDomains'> = async () => answer({ ...head, items: items<Domain>() });
  const withoutTotal: Handler<'listDomains'> = async () =>
    // @ts-expect-error A list has a total.
    answer({ version: 'v', items: items<Domain>() });
  const ofOthers: Handler<'listDomains'> = async () =>
    // @ts-expect-error A domain has an id, a name and a status.
    answer({ ...head, items: items<{ x: number }>() });
  // @ts-expect-error The alerts are not the domains.
  const swapped: Handlers = { ...handlers, listDomains: handlers.listAlerts };
  for (const handler of [fits, withoutTotal, ofOthers, swapped.listDomains])
    expect(handler).toBeTypeOf('function');
});

test('a handler gets the parameters that the contract has, with their types', () => {
  expectTypeOf<Call<'listReports'>['params']['domain_id']>().toEqualTypeOf<
    components['parameters']['DomainIdInPath']
  >();
  expectTypeOf<Call<'listAlerts'>['query']['domain_id']>().toEqualTypeOf<string | undefined>();
  // @ts-expect-error The list of domains has no domain_id.
  expectTypeOf<Call<'listDomains'>['query']['domain_id']>().toBeString();
});
