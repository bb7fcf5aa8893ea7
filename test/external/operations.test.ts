import { describe, expect, expectTypeOf, test } from 'vitest';
import type { components, operations as declared } from '../../generated/v1.d.ts';
import { UNCHECKED } from '../../src/domain/dns/daily-check.ts';
import { addDays, toDay, toInstant } from '../../src/domain/instant.ts';
import { handlers } from '../../src/external/handlers.ts';
import type {
  Call,
  Computed,
  FeedRequest,
  Given,
  Handler,
  Handlers,
  PageRequest,
} from '../../src/external/operation.ts';
import type { DaysReads } from '../../src/judging/reads.ts';
import { createReader, runPlan } from '../../src/store/engine/reader.ts';
import type { PagedList } from '../../src/store/lists/page.ts';
import { operations } from '../support/contract-document.ts';
import { aStore } from '../support/store.ts';

/* `tsc` checks this file: a `@ts-expect-error` without an error is an error. */

type Domain = components['schemas']['Domain'];
const page = { limit: 50, offset: 0 };
const listOf = <Item>() => ({}) as PagedList<Item>;

test('every operation of the contract has a handler', () => {
  const operationIds = operations.map(({ operationId }) => operationId);
  expect(Object.keys(handlers).toSorted()).toEqual(operationIds.toSorted());
});

test('an operation without a handler does not compile', () => {
  expectTypeOf<keyof Handlers>().toEqualTypeOf<keyof declared>();
  const { listAlerts, ...others } = handlers;
  // @ts-expect-error listAlerts has no handler.
  const incomplete: Handlers = others;
  expect(incomplete).not.toHaveProperty('listAlerts');
  expect(listAlerts).toBeTypeOf('function');
});

test('a handler whose items do not fit the contract does not compile', () => {
  const fits: Handler<'listDomains'> = () => ({ list: listOf<Domain>(), page });
  // @ts-expect-error A page has an offset.
  const half: Handler<'listDomains'> = () => ({ list: listOf<Domain>(), page: { limit: 50 } });
  // @ts-expect-error A domain has an id, a name and a status.
  const ofOthers: Handler<'listDomains'> = () => ({ list: listOf<{ x: number }>(), page });
  // @ts-expect-error The alerts are not the domains.
  const swapped: Handlers = { ...handlers, listDomains: handlers.listAlerts };
  for (const handler of [fits, half, ofOthers, swapped.listDomains])
    expect(handler).toBeTypeOf('function');
});

test('a handler gets the parameters that the contract has, with their types', () => {
  expectTypeOf<Call<'listReports'>['path']['domain_id']>().toEqualTypeOf<
    components['parameters']['DomainIdInPath']
  >();
  expectTypeOf<Call<'listAlerts'>['query']['domain_id']>().toEqualTypeOf<string | undefined>();
  // @ts-expect-error The list of domains has no domain_id.
  expectTypeOf<Call<'listDomains'>['query']['domain_id']>().toBeString();
});

const given = {
  now: () => new Date(),
  days: {} as DaysReads,
  findAddress: async () => undefined,
  findKnown: async () => [],
  about: () => expect.unreachable(),
};

describe('a filter that nobody put into the cache’s key answered with the unfiltered page', () => {
  test('a handler that leaves a parameter in the query does not compile', () => {
    const list = listOf<components['schemas']['Alert']>();
    const names: Handler<'listAlerts'> = ({
      query: { domain_id, type, state, fired_from, fired_until, changed_after, ...rest },
    }) => ({ list, page: rest });
    // @ts-expect-error changed_after is left in the page: nothing has used it.
    const forgets: Handler<'listAlerts'> = ({ query }) => {
      const { domain_id, type, state, fired_from, fired_until, ...rest } = query;
      return { list, page: rest };
    };
    for (const handler of [names, forgets]) expect(handler).toBeTypeOf('function');
  });

  /** Records change no feed: they are part of its reports, and the key of a page has the parameter. */
  const isFilter = (name: string) => !(name in page) && name !== 'include';

  const filters = operations.flatMap(({ operationId, parameters }) =>
    parameters
      .filter(({ in: place, name }) => place !== 'header' && isFilter(name))
      .map(({ in: place, name }) => ({ operationId, place, name })),
  );

  test.each(filters)(
    '$operationId: with another $name, another list with a total and version of its own',
    async ({ operationId, place, name }) => {
      const handle = handlers[operationId as keyof Handlers] as (
        call: object,
        given: Given,
      ) => PageRequest<unknown> | FeedRequest<unknown> | Computed<unknown>;
      const { db } = await aStore();
      const headWith = async (values: object) => {
        const call = { accountId: 'a', path: {}, query: page };
        const request = handle(
          { ...call, [place]: { ...call[place as 'query'], ...values } },
          given,
        );
        if ('feed' in request) return request.feed.cursor;
        if ('findVersion' in request) return await recordVersion(request.findVersion);
        const { list } = request;
        const { id, head, count } = 'head' in list ? list : list.followed;
        const counted = count?.()(db as never);
        return { id, head: head(db as never), counted, after: 'cursor' in list && list.cursor };
      };
      const [one, other] = VALUES[name] ?? ['x', 'y'];
      const cure = `the handler has to name a list with ${name}, whose declaration has it`;
      expect(await headWith({ [name]: one }), cure).not.toEqual(await headWith({}));
      expect(await headWith({ [name]: one }), cure).not.toEqual(await headWith({ [name]: other }));
    },
  );

  const VALUES: Readonly<Record<string, readonly [string, string]>> = {
    from: [daysAgo(10), daysAgo(20)],
    until: [daysAgo(10), daysAgo(20)],
    order: ['failed', 'messages'],
    fired_from: ['2026-03-14T00:00:00Z', '2026-03-15T00:00:00Z'],
    fired_until: ['2026-03-14T00:00:00Z', '2026-03-15T00:00:00Z'],
    name: ['a.example', '*.example'],
    status: ['paused', 'all'],
    failing: ['true', 'x'],
    address: ['192.0.2.1', '192.0.2.0/24'],
  };

  function daysAgo(days: number): string {
    return addDays(toDay(toInstant(new Date())), -days);
  }

  /** A version, and the queries that it was made of. */
  async function recordVersion(findVersion: Computed<unknown>['findVersion']) {
    const asked: object[] = [];
    const answer = (query: object) => {
      asked.push(query);
      return [{ version: 'v', dmarc_state: null, state: JSON.stringify(UNCHECKED) }] as never;
    };
    const reader = createReader({
      readAll: async (query) => answer(query),
      readPlan: async (plan) => runPlan(plan(), (queries) => queries.map(answer)),
    });
    return { version: await findVersion(reader), asked };
  }
});
