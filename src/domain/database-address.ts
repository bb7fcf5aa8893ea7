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
  const [first = ''] = listHosts(database);
  if (!URL.canParse(first)) return 'postgres://…';
  const url = new URL(first);
  url.password = '';
  url.searchParams.delete('password');
  const hosts = HOSTS.exec(database)?.[2] ?? '';
  return hosts.includes(',') ? url.toString().replace(HOSTS, `$1${hosts}$3`) : url.toString();
}

/** What comes before the hosts of a URL, the hosts, and what follows them. */
const HOSTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;

/** A URL for each host: `postgres://a:5432,b:5433/x` names two, in the order in which they are tried. */
export function listHosts(database: string): string[] {
  const [, before = '', hosts = '', after = ''] = HOSTS.exec(database) ?? [];
  return hosts.split(',').map((host) => `${before}${host}${after}`);
}
