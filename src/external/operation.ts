import type { components, operations } from '../../generated/v1.d.ts';
import type { Cursor, Start } from '../domain/cursor.ts';
import type { Networks } from '../domain/sources/network.ts';
import type { DaysReads } from '../judging/reads.ts';
import type { JsonText } from '../store/engine/dialect.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { FollowedList } from '../store/lists/followed.ts';
import type { Page, PagedList } from '../store/lists/page.ts';

export type OperationId = keyof operations;

type BodyOf<O extends OperationId> = operations[O]['responses'][200]['content']['application/json'];
type ItemOf<O extends OperationId> = BodyOf<O>['data'] extends readonly (infer Item)[]
  ? Item
  : BodyOf<O>['data'];
type PathOf<O extends OperationId> = operations[O]['parameters'] extends { path: infer P }
  ? P
  : object;
/** `limit` and `offset` have defaults, so they are always there. */
type QueryOf<O extends OperationId> = NonNullable<operations[O]['parameters']['query']> & Page;

/** A validated request from a caller whose API key was accepted. */
export interface Call<O extends OperationId> {
  readonly accountId: string;
  readonly keyId: string;
  readonly path: PathOf<O>;
  readonly query: QueryOf<O>;
}

/** What handlers are given besides the request. */
export interface Given {
  readonly now: () => Date;
  readonly networks?: Networks | undefined;
  /** Where the records of an account's domains should ask for reports. */
  readonly findAddress: (accountId: string) => Promise<string | undefined>;
  /** Other values when services or networks are named otherwise. */
  readonly findKnown: () => Promise<readonly unknown[]>;
  /** The service, as a key's answer has it. */
  readonly about: () => Pick<
    components['schemas']['Key'],
    'limits' | 'retention_days' | 'versions'
  >;
  readonly days: DaysReads;
}

/** Names the list that a request asks for, and the page; or computes the answer. */
export type Handler<O extends OperationId> = (
  call: Call<O>,
  given: Given,
) => BodyOf<O> extends { readonly total: number }
  ? PageRequest<ItemOf<O>, PageOf<QueryOf<O>>> | Computed<BodyOf<O>>
  : BodyOf<O> extends { readonly has_more: boolean }
    ? FeedRequest<ItemOf<O>>
    : Computed<BodyOf<O>>;

/** What no query can list as JSON: one thing, or a page that is made of values. */
export interface Computed<Body> {
  /** The message to a caller for whom it does not exist. */
  readonly missing: string;
  /** undefined when it does not exist for the caller. */
  readonly findVersion: (reader: Reader) => Promise<string | undefined>;
  /** Reads both from one snapshot. Throws `not_found`, or is undefined. */
  readonly read: (
    reader: Reader,
  ) => Promise<{ readonly version: string; readonly body: Body } | undefined>;
}

export interface PageRequest<Item, P extends Page = Page> {
  readonly list: PagedList<Item> | ListAfter<Item>;
  readonly page: P;
}

/** What came to a list after a cursor, and the name of the parameter that has the cursor. */
export interface ListAfter<Item> {
  readonly followed: FollowedList<Item>;
  readonly parameter: string;
  readonly cursor: string;
}

/** A feed of changes after a cursor; `open` returns undefined for one that is no longer good. */
export interface FeedRequest<Item> {
  readonly feed: {
    /** Its cursors are good for no other list. */
    readonly id: string;
    readonly parameter: string;
    readonly cursor: string;
    readonly open: (reader: Reader, start: Start) => Promise<OpenFeedOf<Item> | undefined>;
  };
}

interface OpenFeedOf<Item> {
  readonly version: string;
  readonly read: () => Promise<FeedPageOf<Item>>;
}

interface FeedPageOf<Item> {
  readonly items: readonly JsonText<Item>[];
  readonly hasMore: boolean;
  /** Behind the last item. */
  readonly cursor: Cursor;
  /** The version that the client is told. */
  readonly tag: string;
}

/** What is left of a query when the list is named: no other parameter than `limit` and `offset`. */
type PageOf<Query> = Page & {
  readonly [P in Exclude<keyof Query, keyof Page>]?: UnusedParameter;
};
type UnusedParameter =
  'Take this parameter out of the query, and name a list with it: its declaration in store/ has a filter for it.';

/** One handler per operationId: an operation in v1.yaml without a handler does not compile. */
export type Handlers = { readonly [O in OperationId]: Handler<O> };
