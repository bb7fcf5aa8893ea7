import { isIP } from 'node:net';
import { readPasswordFile, readSecretFile } from './secret-file.ts';
import { text, url, type ValuesOf } from './variable.ts';

/** Where limits are counted for several instances. */
export interface RedisConfig {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly database: number;
  /** A user of the access control list. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** A file that contains the password. */
  readonly passwordFile?: string | undefined;
  /** A file that contains the certificates of the authority that signed the server's. */
  readonly caFile?: string | undefined;
}

const DEFAULT_PORT = 6379;

export const REDIS_VARIABLES = {
  PLUMBLINE_REDIS: url(
    toRedisUrl,
    'must be a URL like redis://user:password@redis.example.com:6379/0, or rediss:// for TLS; special characters in ' +
      'the user and the password are percent-encoded',
  ),
  PLUMBLINE_REDIS_PASSWORD: text(undefined),
  PLUMBLINE_REDIS_PASSWORD_FILE: text(undefined),
  PLUMBLINE_REDIS_CA: text(undefined),
};

type Values = ValuesOf<typeof REDIS_VARIABLES>;

export function toRedisConfig(values: Values): RedisConfig | undefined {
  if (values.PLUMBLINE_REDIS === undefined) return undefined;
  const { protocol, hostname, port, pathname, username, password } = new URL(
    values.PLUMBLINE_REDIS,
  );
  return {
    host: toHost(hostname),
    port: port === '' ? DEFAULT_PORT : Number(port),
    isTls: protocol === 'rediss:',
    database: Number(pathname.slice(1)),
    username: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || values.PLUMBLINE_REDIS_PASSWORD,
    passwordFile: values.PLUMBLINE_REDIS_PASSWORD_FILE,
    caFile: values.PLUMBLINE_REDIS_CA,
  };
}

export interface RedisSecrets {
  readonly password: string | undefined;
  /** The certificates of the authority that signed the server's. */
  readonly ca: string | undefined;
}

/** Reads the secrets that are in files. Throws a ConfigError when a file cannot be read. */
export function readRedisSecrets({ password, passwordFile, caFile }: RedisConfig): RedisSecrets {
  return {
    password: passwordFile
      ? readPasswordFile('PLUMBLINE_REDIS_PASSWORD_FILE', passwordFile)
      : password,
    ca: caFile && readSecretFile('PLUMBLINE_REDIS_CA', caFile),
  };
}

/** A line for each variable that contradicts another. */
export function listRedisContradictions(values: Values): string[] {
  const redis = values.PLUMBLINE_REDIS;
  const others = (
    ['PLUMBLINE_REDIS_PASSWORD', 'PLUMBLINE_REDIS_PASSWORD_FILE', 'PLUMBLINE_REDIS_CA'] as const
  ).filter((name) => values[name] !== undefined);
  if (redis === undefined) return others.map((name) => `${name}: needs PLUMBLINE_REDIS`);
  const { protocol, username, password } = new URL(redis);
  const passwords = [
    ...(password === '' ? [] : ['PLUMBLINE_REDIS']),
    ...others.filter((name) => name !== 'PLUMBLINE_REDIS_CA'),
  ];
  return [
    ...(passwords.length > 1
      ? [`${passwords.at(-1)}: the password is in ${passwords[0]} already`]
      : []),
    ...(username !== '' && passwords.length === 0
      ? ['PLUMBLINE_REDIS: the user has no password']
      : []),
    ...(protocol === 'redis:' && values.PLUMBLINE_REDIS_CA !== undefined
      ? ['PLUMBLINE_REDIS_CA: needs rediss:// in PLUMBLINE_REDIS']
      : []),
  ];
}

/** The text as it was given when everything in it has a meaning. */
function toRedisUrl(given: URL, whole: string): string | undefined {
  const { protocol, hostname, pathname, search, hash } = given;
  const isRedis = protocol === 'redis:' || protocol === 'rediss:';
  const isWhole = /^(\/\d{0,5})?$/.test(pathname) && search === '' && hash === '';
  return isRedis && isHost(toHost(hostname)) && isWhole && isDecodable(given) ? whole : undefined;
}

function toHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function isHost(host: string): boolean {
  return isIP(host) !== 0 || /^[\w.-]+$/.test(host);
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
