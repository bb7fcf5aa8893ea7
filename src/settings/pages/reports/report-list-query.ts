import type { Request } from 'express';
import type { Reporter, ReportKey, ReportPageQuery } from '../../../store/reports/report-list.ts';
import { readQuery } from '../../form.ts';

/* What the address of a list of reports says beside its range. */

const UNNAMED = 'unnamed';
const NAMED = 'name:';

/** undefined: every reporter. */
export function readReporter(req: Request): Reporter | undefined {
  const value = readQuery(req, 'reporter');
  if (value === UNNAMED) return null;
  return value.startsWith(NAMED) ? value.slice(NAMED.length) : undefined;
}

/** The value of the parameter; empty for every reporter. */
export function toReporterValue(reporter: Reporter | undefined): string {
  if (reporter === undefined) return '';
  return reporter === null ? UNNAMED : `${NAMED}${reporter}`;
}

const KEY = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)-(\d{1,15})$/;

/** Where the page begins. A place that is not one of ours gives the first page. */
export function readStart(req: Request): ReportPageQuery['start'] {
  for (const direction of ['older', 'newer'] as const) {
    const [, begin, seq] = KEY.exec(readQuery(req, direction)) ?? [];
    if (begin !== undefined) return { direction, key: { begin, seq: Number(seq) } };
  }
  return undefined;
}

export function toKeyValue({ begin, seq }: ReportKey): string {
  return `${begin}-${seq}`;
}
