import type { components } from '../../../generated/v1.d.ts';
import {
  type DomainRow,
  findDomainsHead,
  listDomains as readDomains,
} from '../../store/accounts/domains.ts';
import type { Handler } from './handlers.ts';
import { toList, toPage } from './list.ts';

export const listDomains: Handler<'listDomains'> = async ({ accountId, query }, { reader }) => {
  const page = toPage(query);
  return {
    head: await findDomainsHead(reader, accountId),
    page,
    read: async () => toList(await readDomains(reader, accountId, page), toDomain),
  };
};

function toDomain(row: DomainRow): components['schemas']['Domain'] {
  return {
    id: row.id,
    domain: row.name,
    status: row.status,
    last_report_at: row.last_report_at,
  };
}
