import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Queries } from '../engine/database.ts';

/** Parents and subdomains that belong to other accounts, by name. */
export async function listRelatedDomains(db: Queries, accountId: string, name: string) {
  const rows = await db
    .selectFrom('domain')
    .select(['name', 'account_id as accountId'])
    // This leaves out domains without account, too.
    .where('account_id', '<>', accountId)
    .where((eb) => eb.or([eb('name', 'in', toParents(name)), isBelow(name)]))
    .orderBy('name')
    .execute();
  return rows.map((row) => {
    const relation = row.name.endsWith(`.${name}`) ? 'subdomain' : 'parent domain';
    return { ...row, relation };
  });
}

/** Whether a row's `name` is a subdomain. With LIKE, wildcards would have to be escaped: `_` is allowed in names. */
export function isBelow(name: string): RawBuilder<SqlBool> {
  const ending = `.${name}`;
  return sql<SqlBool>`substr(name, length(name) - ${ending.length - 1}) = ${ending}`;
}

/** `a.b.example.com`: b.example.com, example.com, com. */
function toParents(name: string): string[] {
  const labels = name.split('.');
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join('.'));
}
