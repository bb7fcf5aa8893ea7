import { domainsOf } from '../../store/accounts/domain-list.ts';
import type { Handler } from './handlers.ts';
import { answerList } from './list.ts';

export const listDomains: Handler<'listDomains'> = ({ accountId, query }, { reader }) =>
  answerList(reader, domainsOf(accountId), query);
