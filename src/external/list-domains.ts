import { domainsOf } from '../store/domains/domains.ts';
import type { Handler } from './operation.ts';

export const listDomains = (({ accountId, query: page }) => ({
  list: domainsOf(accountId),
  page,
})) satisfies Handler<'listDomains'>;
