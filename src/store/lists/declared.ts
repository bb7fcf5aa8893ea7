import { hash } from 'node:crypto';
import { remember } from '../../domain/remember.ts';
import type { Value } from '../engine/prepared.ts';
import type { Condition, Declaration, Filters, Owner, Part, Wanted } from './declaration.ts';
import { prepareList, type QueryShape } from './declared-queries.ts';
import type { FollowedList } from './followed.ts';
import type { ItemsQuery } from './page.ts';

/** A function that opens a list of an owner, with what filters let through. */
export function declareList<F extends Filters, Of extends string>(declared: Declaration<F, Of>) {
  const queriesOf = remember((of: Of) => {
    const byShape = remember((shape: string) =>
      prepareList(declared, declared.scopes[of], JSON.parse(shape)),
    );
    return (parts: readonly Part[]) => byShape(JSON.stringify(parts.map(toShape)));
  });
  const [by, then] = declared.order;
  const toBegun = (part: Part, { from, until }: ItemsQuery): Part =>
    then === undefined ? [...part, [by, '>=', from]] : toUntil(part, by, until);

  return <Item>(of: Of, owner: Owner, wanted: Wanted<F>): FollowedList<Item> => {
    const scope = declared.scopes[of];
    const set = Object.entries(wanted).filter(([, value]) => value !== undefined);
    const parts = set.reduce(
      (all, [name, value]) => cross(all, declared.filters[name]?.(value)),
      WHOLE,
    );
    const id = owner.domainId ?? owner.accountId;
    const bind = (some = parts) => ({ owner: id, ...toValues(some) });
    return {
      id: toFilteredId(scope.toId(owner), set),
      accountId: owner.accountId,
      reportsOf: declared.table === 'report' ? owner : undefined,
      days: scope.days?.(owner, wanted),
      keyOf: declared.keyOf,
      head: scope.head(owner) as FollowedList<Item>['head'],
      count: set.length > 0 || scope.isPart ? () => queriesOf(of)(parts).count(bind()) : undefined,
      items: (page) => {
        const begun = parts.map((part) => toBegun(part, page));
        return queriesOf(of)(begun).items({ ...page, ...bind(begun) }) as never;
      },
      after: (page) => queriesOf(of)(parts).after({ ...page, ...bind() }) as never,
      countAfter: (after) => queriesOf(of)(parts).countAfter({ after, ...bind() }),
    };
  };
}

const WHOLE: readonly Part[] = [[]];

const cross = (all: readonly Part[], parts: readonly Part[] = WHOLE): readonly Part[] =>
  parts.flatMap((part) => all.map((one) => [...one, ...part]));

/** The page begins with the latest of both: with two bounds SQLite would begin with the one that comes first. */
function toUntil(part: Part, by: string, until: string): Part {
  const isLast = ([column, is]: Condition) => column === by && is === '<=';
  const bounds = [until, ...part.filter(isLast).map(([, , value]) => `${value}`)];
  const first = bounds.reduce((a, b) => (a < b ? a : b));
  return [...part.filter((condition) => !isLast(condition)), [by, '<=', first]];
}

const toShape = (part: Part): QueryShape => part.map(([column, is]) => [column, is]);

/** The values of conditions, by their places. */
function toValues(parts: readonly Part[]): Record<string, Value> {
  const values: Record<string, Value> = {};
  for (const [i, part] of parts.entries())
    for (const [n, [, , value]] of part.entries())
      if (value !== undefined) values[`${i} ${n}`] = value;
  return values;
}

/** The id of a filtered list; that of the whole when nothing is filtered. */
function toFilteredId(list: string, set: readonly (readonly [string, unknown])[]): string {
  if (set.length === 0) return list;
  const text = JSON.stringify(set.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${list}.${hash('sha256', text, 'base64url').slice(0, 20)}`;
}
