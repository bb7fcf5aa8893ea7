/** Whether a text names a PostgreSQL database. Everything else is the path of a file. */
export function isPostgresUrl(database: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(database);
}

/** The path of a database in a file; undefined for a URL, and for a database in memory. */
export function findDatabaseFile(database: string): string | undefined {
  return database === ':memory:' || isPostgresUrl(database) ? undefined : database;
}

/** A database as people may see it: the path of a file, or a URL without its password. */
export function toShownDatabase(database: string): string {
  return isPostgresUrl(database) ? toShownUrl(database) : database;
}

export function toShownUrl(database: string): string {
  if (!URL.canParse(database)) return 'postgres://…';
  const url = new URL(database);
  url.password = '';
  url.searchParams.delete('password');
  return url.toString();
}
