import { reportsOf } from '../../store/reports/reports.ts';
import type { Handler } from './handlers.ts';
import { answerList } from './list.ts';

export const listReports: Handler<'listReports'> = ({ accountId, params, query }, { reader }) =>
  answerList(reader, reportsOf({ accountId, domainId: params.domain_id.toLowerCase() }), query);
