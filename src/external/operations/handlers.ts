import type { operations } from '../../../generated/v1.d.ts';
import type { Reader } from '../../store/engine/reader.ts';
import type { Head } from '../../store/lists/heads.ts';
import type { PageOf } from '../../store/lists/page.ts';
import { listAlerts } from './list-alerts.ts';
import { listDomains } from './list-domains.ts';
import { listReports } from './list-reports.ts';

export type OperationId = keyof operations;

type BodyOf<O extends OperationId> = operations[O]['responses'][200]['content']['application/json'];
type ItemOf<O extends OperationId> = BodyOf<O>['data'][number];
type ParamsOf<O extends OperationId> = operations[O]['parameters'] extends { path: infer P }
  ? P
  : object;
type QueryOf<O extends OperationId> = NonNullable<operations[O]['parameters']['query']>;

/** A validated request from a caller whose key was accepted. */
export interface Call<O extends OperationId> {
  readonly accountId: string;
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
}

/**
 * The answer of a list operation. The head is enough to decide whether the page has to be read. `read`
 * returns the page with the head of its own snapshot, which may be newer.
 */
export interface ListAnswer<Item> {
  readonly head: Head;
  /** What distinguishes the page from the other pages of the head's version. */
  readonly key: string;
  /** Whether it is a page that clients ask for again and again: the first one. */
  readonly isFirst: boolean;
  readonly read: () => Promise<ReadPage<Item>>;
}

export interface ReadPage<Item> extends PageOf<Item> {
  /** The value of `Plumbline-Cursor`, for lists that can be followed. */
  readonly cursor?: string | undefined;
}

/** A list's answer, with the values that the contract gives for its operation. */
export interface ServedAnswer extends ListAnswer<unknown> {
  /** The version of the body's schema (shape.ts); part of the entity tag. */
  readonly shape: string;
  /** Headers in addition to those of every list, names and values alternating. */
  readonly headers: readonly string[];
}

export type Handler<O extends OperationId> = (
  call: Call<O>,
  given: { readonly reader: Reader },
) => Promise<ListAnswer<ItemOf<O>>>;

/** One handler per operationId: an operation in v1.yaml without a handler does not compile. */
export type Handlers = { readonly [O in OperationId]: Handler<O> };

export const handlers: Handlers = { listDomains, listReports, listAlerts };
