import type { components } from '../../../generated/v1.d.ts';
import { Failure } from '../../domain/failure.ts';
import {
  findReportsHead,
  type ReportRow,
  listReports as readReports,
} from '../../store/reports/reports.ts';
import type { Handler } from './handlers.ts';
import { toList, toPage } from './list.ts';

export const listReports: Handler<'listReports'> = async (
  { accountId, params, query },
  { reader },
) => {
  const domain = { accountId, domainId: params.domain_id.toLowerCase() };
  const head = await findReportsHead(reader, domain);
  if (head === undefined) throw new Failure('not_found', 'No such domain.');
  const page = toPage(query);
  return {
    head,
    page,
    read: async () => toList(await readReports(reader, domain, page), toReport),
  };
};

/** The row has the wire format: its columns are the contract's fields, its instants the contract's text. */
function toReport(row: ReportRow): components['schemas']['Report'] {
  return row;
}
