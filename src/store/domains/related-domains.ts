import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Queries } from '../engine/database.ts';

/** Parents and subdomains of these names that belong to other accounts, by name. All of these are read once for many names. */
export async function listRelatedDomains(db: Queries, accountId: string, names: readonly string[]) {
  const known = new Set(names);
  const above = new Set(names.flatMap(toParents));
  const others = await db
    .selectFrom('domain')
    .select(['name', 'account_id as accountId'])
    // This leaves out domains without account, too.
    .where('account_id', '<>', accountId)
    .orderBy('name')
    .execute();
  return others.flatMap(({ name, ...rest }) => {
    const isBelow = toParents(name).some((parent) => known.has(parent));
    if (!isBelow && !above.has(name)) return [];
    return [{ name, ...rest, relation: isBelow ? 'subdomain' : 'parent domain' }];
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
