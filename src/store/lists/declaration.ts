import type { Expression, Kysely, RawBuilder, SqlBool } from 'kysely';
import type { JsonFields } from '../engine/dialect.ts';
import type { BoundQuery } from '../engine/prepared.ts';
import type { Tables } from '../tables.ts';
import type { FollowableHead, Head, isVersion } from './heads.ts';
import type { ListDaysQuery } from './timeline.ts';

/* A list is declared once: its pages, totals, and what came after a cursor follow from the declaration (decision 128). */

/** What holds for a row: a column, how it compares, and with what. */
export type Condition =
  | readonly [column: string, is: '=' | '>' | '>=' | '<' | '<=', value: string | number]
  | readonly [column: string, is: 'is null' | 'is not null'];

export type Part = readonly Condition[];

/** The rows that a value lets through: those of which all of one part holds. No row is in two parts, and each is read by an index. */
export type Filter<Wanted> = (value: Wanted) => readonly Part[];

// biome-ignore lint/suspicious/noExplicitAny: Each filter has values of its own.
export type Filters = Readonly<Record<string, Filter<any>>>;

/** Values of filters. A filter without one lets all rows through. */
export type Wanted<F extends Filters> = {
  readonly [Name in keyof F]?: Parameters<F[Name]>[0] | undefined;
};

export interface Declaration<F extends Filters, Of extends string> {
  readonly table: 'report' | 'alert' | 'domain';
  /** By two columns, latest first; or by one, which is unique, in its order. */
  readonly order: readonly [by: string, then?: string];
  /** The value of an item in that one column. */
  keyOf?(item: object): string;
  /** The column in whose order clients follow it. */
  readonly key?: string;
  readonly filters: F;
  readonly scopes: Readonly<Record<Of, Scope<F>>>;
}

/** Whose rows a list has. */
export interface Scope<F extends Filters> {
  /** The id of the unfiltered list, for its cursors. */
  toId(owner: Owner): string;
  readonly isOwn: (owner: Expression<string>) => RawBuilder<SqlBool>;
  readonly fields: (db: Kysely<Tables>) => JsonFields;
  readonly version: Parameters<typeof isVersion>[0];
  head(owner: Owner): BoundQuery<Head | FollowableHead>;
  /** Counts of days, where they are kept; undefined for a filter that they do not count. */
  days?(owner: Owner, wanted: Wanted<F>): ListDaysQuery | undefined;
  /** The head's version stands for more than one state of it. */
  readonly isPart?: true;
}

/** The account, and its domain where the list is a domain's. */
export interface Owner {
  readonly accountId: string;
  readonly domainId?: string | undefined;
}
