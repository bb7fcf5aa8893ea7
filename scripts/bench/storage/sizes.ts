import Database from 'better-sqlite3';
import pg from 'pg';

/** What a table's rows, one of its indexes, or its values out of line take. */
export interface Size {
  readonly table: string;
  readonly part: string;
  readonly bytes: number;
}

/** What everything in a database takes, in whole pages as they are on the disk. */
export async function listSizes(database: string): Promise<Size[]> {
  return database.startsWith('postgres:') ? await listOnPostgres(database) : listOnSqlite(database);
}

function listOnSqlite(database: string): Size[] {
  const db = new Database(database, { readonly: true });
  const sizes = db.prepare(`select coalesce(tbl_name, dbstat.name) as "table",
      case when dbstat.name = coalesce(tbl_name, dbstat.name) then 'rows' else dbstat.name end as part,
      pgsize as bytes
    from dbstat left join sqlite_schema on sqlite_schema.name = dbstat.name where aggregate = 1`);
  const rows = sizes.all() as Size[];
  db.close();
  return rows;
}

/** Partitions count with their table. The rows' size includes the maps of free space and of visible pages. */
const ON_POSTGRES = `
  with held as (
    select c.oid, c.oid as owner, 'rows' as part from pg_class c
      where relkind = 'r' and relnamespace = 'public'::regnamespace
    union all select reltoastrelid, oid, 'out of line' from pg_class
      where reltoastrelid <> 0 and relkind = 'r' and relnamespace = 'public'::regnamespace
    union all select indexrelid, indrelid,
        coalesce(pg_partition_root(indexrelid), indexrelid)::regclass::text
      from pg_index join pg_class c on c.oid = indrelid
      where c.relkind = 'r' and relnamespace = 'public'::regnamespace)
  select coalesce(pg_partition_root(owner), owner)::regclass::text as "table", part,
    sum(case when part = 'out of line' then pg_total_relation_size(oid)
      when part = 'rows' then pg_table_size(oid) - coalesce((select pg_total_relation_size(reltoastrelid)
        from pg_class c where c.oid = owner and reltoastrelid <> 0), 0)
      else pg_relation_size(oid) end)::float8 as bytes
  from held group by 1, 2`;

async function listOnPostgres(url: string): Promise<Size[]> {
  const client = new pg.Client(url);
  await client.connect();
  // As the server's own vacuum leaves it.
  await client.query('vacuum analyze');
  const { rows } = await client.query(ON_POSTGRES);
  await client.end();
  return rows;
}
