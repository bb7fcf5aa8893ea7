import type { Request } from 'express';
import { isInstant } from '../../../domain/instant.ts';
import type { ReportPageQuery } from '../../../store/reports/report-list.ts';
import {
  type ReporterName,
  type ReportKey,
  SENDERS,
  SORT_COLUMNS,
} from '../../../store/reports/report-list-queries.ts';
import { readQuery, readSearch, readSort, toChosen, toSortParameters } from '../../request.ts';

export type ReportChoice = ReturnType<typeof readFilter>;

/** What is shown of a list of reports, besides the range, as its URL says it. */
export function readFilter(req: Request) {
  return {
    /** Whose reports are shown; undefined for every reporter, null for reporters without a name. */
    reporter: readReporter(req),
    sender: SENDERS.find((one) => one === readQuery(req, 'sender')),
    search: readSearch(req),
    sort: readSort(req, SORT_COLUMNS),
  };
}

export function toReportParameters({ reporter, sender, search, sort }: ReportChoice) {
  const filters: Readonly<Record<Exclude<keyof ReportChoice, 'sort'>, string | undefined>> = {
    reporter: reporter === undefined ? undefined : toReporterValue(reporter),
    sender,
    search,
  };
  const { search: q, ...others } = filters;
  return toChosen({ ...others, q, ...toSortParameters(sort) });
}

const UNNAMED = 'unnamed';
const NAMED = 'name:';

function readReporter(req: Request): ReporterName | undefined {
  const value = readQuery(req, 'reporter');
  if (value === UNNAMED) return null;
  if (!value.startsWith(NAMED)) return undefined;
  try {
    return decodeURIComponent(value.slice(NAMED.length));
  } catch {
    return undefined;
  }
}

/** Encoded: a name may have characters that no page of ours has, and a browser would change its line ends. */
export function toReporterValue(reporter: ReporterName): string {
  return reporter === null ? UNNAMED : `${NAMED}${encodeURIComponent(reporter.toWellFormed())}`;
}

const KEY = /^(.{20})-(\d{1,15})$/;

/** A value that is not one of ours gives the first page. */
export function readStart(req: Request): ReportPageQuery['start'] {
  for (const direction of ['older', 'newer'] as const) {
    const [, begin = '', seq] = KEY.exec(readQuery(req, direction)) ?? [];
    if (isInstant(begin)) return { direction, key: { begin, seq: Number(seq) } };
  }
  return undefined;
}

export function toKeyValue({ begin, seq }: ReportKey): string {
  return `${begin}-${seq}`;
}
