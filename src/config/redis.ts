import { isIP } from 'node:net';
import { decodeUrlPart } from '../domain/url-part.ts';
import type { Environment } from './environment.ts';
import { readAuthority, readPasswordFile } from './secret-file.ts';
import { anyText, parsed } from './variable.ts';

const DEFAULT_PORT = 6379;

const VARIABLES = {
  server: parsed(
    'PLUMBLINE_REDIS',
    parseRedisUrl,
    'must be a URL like redis://user:password@redis.example.com:6379/0, or rediss:// for TLS; special characters in ' +
      'the user and the password are percent-encoded',
  ),
  password: anyText('PLUMBLINE_REDIS_PASSWORD', undefined),
  passwordFile: anyText('PLUMBLINE_REDIS_PASSWORD_FILE', undefined),
  /** A file that contains the certificates of the authority that signed the server's. */
  caFile: anyText('PLUMBLINE_REDIS_CA', undefined),
};

/** Where limits are counted for several instances. */
export type RedisConfig = NonNullable<ReturnType<typeof readRedis>>;

export function readRedis(environment: Environment) {
  const { server, password, passwordFile, caFile } = environment.read(VARIABLES);
  const given = {
    PLUMBLINE_REDIS: server?.password,
    PLUMBLINE_REDIS_PASSWORD: password,
    PLUMBLINE_REDIS_PASSWORD_FILE: passwordFile,
  };
  const passwords = Object.entries(given).flatMap(([name, value]) => (value ? [name] : []));
  if (server === undefined) {
    const unused = [...passwords, ...(caFile === undefined ? [] : ['PLUMBLINE_REDIS_CA'])];
    for (const name of unused) environment.refuse(true, `${name}: needs PLUMBLINE_REDIS`);
    return undefined;
  }
  environment.refuse(
    passwords.length > 1,
    `${passwords.at(-1)}: the password is in ${passwords[0]} already`,
  );
  environment.refuse(
    server.username !== undefined && passwords.length === 0,
    'PLUMBLINE_REDIS: the user has no password',
  );
  environment.refuse(
    caFile !== undefined && !server.isTls,
    'PLUMBLINE_REDIS_CA: needs rediss:// in PLUMBLINE_REDIS',
  );
  return { ...server, password: server.password ?? password, passwordFile, caFile };
}

/** undefined when something in the URL has no meaning. */
function parseRedisUrl(value: string) {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  const { protocol, hostname, port, pathname, search, hash } = url;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const [username, password] = [decodeUrlPart(url.username), decodeUrlPart(url.password)];
  if (!/^rediss?:$/.test(protocol) || (isIP(host) === 0 && !/^[\w.-]+$/.test(host)))
    return undefined;
  if (!/^(\/\d{0,5})?$/.test(pathname) || `${search}${hash}` !== '') return undefined;
  if (username === undefined || password === undefined) return undefined;
  return {
    host,
    port: port === '' ? DEFAULT_PORT : Number(port),
    isTls: protocol === 'rediss:',
    database: Number(pathname.slice(1)),
    username: username || undefined,
    password: password || undefined,
  };
}

export type RedisSecrets = ReturnType<typeof readRedisSecrets>;

/** Reads the secrets that are in files. Throws a ConfigError when a file cannot be read. */
export function readRedisSecrets({ password, passwordFile, caFile }: RedisConfig) {
  return {
    password: passwordFile
      ? readPasswordFile('PLUMBLINE_REDIS_PASSWORD_FILE', passwordFile)
      : password,
    ca: caFile && readAuthority('PLUMBLINE_REDIS_CA', caFile),
  };
}
