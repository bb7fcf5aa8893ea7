import { domainsOf } from '../store/domains/domains.ts';
import { toDomainName } from './filters.ts';
import type { Handler } from './operation.ts';

export const listDomains = (({ accountId, query: { name, status, ...page } }) => ({
  list: domainsOf(accountId, { name: name === undefined ? undefined : toDomainName(name), status }),
  page,
})) satisfies Handler<'listDomains'>;
