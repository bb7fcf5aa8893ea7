import type { Request } from 'express';
import type { Grouping } from '../../../domain/sources/groups.ts';
import { readQuery } from '../../request.ts';

const MARKS = ['legitimate', 'unknown', 'unmarked'] as const;
const GROUPINGS = ['network', 'organisation'] as const satisfies readonly Grouping[];
/** The key of a group may be the whole name of a domain, or of a network. */
const MAX_KEY = 253;

/** What of a domain's sources a page shows, beside its range. */
export interface Choice {
  readonly failingOnly: boolean;
  readonly mark: (typeof MARKS)[number] | undefined;
  readonly group: Grouping | undefined;
  /** The key of one group, whose sources are listed. */
  readonly within: string | undefined;
  /** From 1. */
  readonly page: number;
}

/** A choice that cannot be read is none. */
export function readChoice(req: Request): Choice {
  const [mark, group, within, page] = ['mark', 'group', 'within', 'page'].map((name) =>
    readQuery(req, name),
  );
  const grouping = GROUPINGS.find((known) => known === group);
  const isKey = grouping !== undefined && within !== '' && (within ?? '').length <= MAX_KEY;
  return {
    failingOnly: readQuery(req, 'failing') === '1',
    mark: MARKS.find((known) => known === mark),
    group: grouping,
    within: isKey ? within : undefined,
    page: /^[1-9]\d{0,5}$/.test(page ?? '') ? Number(page) : 1,
  };
}

/** The parameters of a choice; those that are not needed are left out. */
export function toParameters(choice: Choice): Readonly<Record<string, string>> {
  const { failingOnly, mark, group, within, page } = choice;
  const all = {
    failing: failingOnly ? '1' : undefined,
    ...{ mark, group, within },
    page: page === 1 ? undefined : String(page),
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]);
  return Object.fromEntries(given);
}
