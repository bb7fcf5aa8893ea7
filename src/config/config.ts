import { isIP } from 'node:net';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import { findDefaultDatabase } from './database.ts';
import { INBOX_VARIABLES, type InboxConfig } from './inbox.ts';
import {
  type ImapConfig,
  listMailProblems,
  MAIL_VARIABLES,
  type SmtpConfig,
  toImap,
  toSmtp,
} from './mail.ts';
import { listUnknown } from './names.ts';
import {
  DATABASE_VARIABLES,
  type DatabaseOptions,
  listUnused,
  toDatabaseOptions,
} from './postgres.ts';
import {
  listRedisContradictions,
  REDIS_VARIABLES,
  type RedisConfig,
  toRedisConfig,
} from './redis.ts';
import { findSecretsKeyFile, type SecretsKeyFile } from './secrets-key.ts';
import { listContradictions, THRESHOLD_VARIABLES, toThresholds } from './thresholds.ts';
import {
  ConfigError,
  choice,
  decimal,
  file,
  list,
  readVariables,
  text,
  url,
  type ValuesOf,
  whole,
} from './variable.ts';

/** All settings from the environment, validated, with their defaults (README, “Configuration”). */
export interface Config extends InboxConfig {
  /** The path of a SQLite database, or the URL of a PostgreSQL database. */
  readonly database: string;
  readonly databaseOptions: DatabaseOptions;
  readonly host: string;
  readonly port: number;
  /** How many processes of `serve` answer requests on one port. */
  readonly processes: number;
  /** Requests per minute. */
  readonly requestsPerKey: number;
  readonly requestsPerIp: number;
  /** Connections at the same time, in total and from one address. */
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Memory for cached pages, in bytes. */
  readonly pageCacheBytes: number;
  readonly logLevel: string;
  readonly alertThresholds: Thresholds;
  readonly dnsChecks: boolean;
  /** Addresses, with or without a port; empty for the system's servers. */
  readonly dnsServers: readonly string[];
  /** The public URL of the service, without a slash at the end. */
  readonly baseUrl?: string | undefined;
  /** The OpenID provider that people may sign in with. */
  readonly singleSignOn?: SingleSignOn | undefined;
  /** Where the key is that encrypts secrets in the database; undefined when there is none. */
  readonly secretsKeyFile?: SecretsKeyFile | undefined;
  /** Where several instances count their limits together. */
  readonly redis?: RedisConfig | undefined;
  /** An MMDB file that knows the networks of addresses. */
  readonly ipDatabase?: string | undefined;
  /** The mail doors that are open. */
  readonly smtp?: SmtpConfig | undefined;
  readonly imap?: ImapConfig | undefined;
}

export interface SingleSignOn {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** More than the processors of any machine would only use memory. */
export const MAX_PROCESSES = 64;

const limit = (fallback: number) => whole(fallback, { min: 1, max: 1_000_000_000 });

const VARIABLES = {
  ...DATABASE_VARIABLES,
  PLUMBLINE_HOST: text('127.0.0.1'),
  PLUMBLINE_PORT: whole(8080, { min: 0, max: 65_535 }),
  PLUMBLINE_PROCESSES: whole(1, { min: 1, max: MAX_PROCESSES }),
  PLUMBLINE_REQUESTS_PER_KEY: limit(60),
  PLUMBLINE_REQUESTS_PER_IP: limit(200),
  PLUMBLINE_MAX_CONNECTIONS: limit(1_000),
  PLUMBLINE_MAX_CONNECTIONS_PER_IP: limit(100),
  PLUMBLINE_TRUSTED_PROXIES: list(isNetwork, 'addresses or networks like 10.0.0.0/8'),
  PLUMBLINE_PAGE_CACHE_MB: decimal(32, { min: 0, max: 100_000 }),
  PLUMBLINE_LOG_LEVEL: choice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
  ),
  PLUMBLINE_DNS_CHECKS: choice(['on', 'off'], 'off'),
  PLUMBLINE_DNS_SERVERS: list(
    isServer,
    'addresses like 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353',
  ),
  PLUMBLINE_BASE_URL: url(toOrigin, 'must be a URL without a path, like https://dmarc.example.com'),
  PLUMBLINE_SECRETS_KEY_FILE: text(undefined),
  PLUMBLINE_OIDC_ISSUER: url(toIssuer, 'must be an https URL'),
  PLUMBLINE_OIDC_CLIENT_ID: text(undefined),
  PLUMBLINE_OIDC_CLIENT_SECRET: text(undefined),
  PLUMBLINE_IP_DATABASE: file,
  ...REDIS_VARIABLES,
  ...INBOX_VARIABLES,
  ...MAIL_VARIABLES,
  ...THRESHOLD_VARIABLES,
};

type Values = ValuesOf<typeof VARIABLES>;

/** Reads the configuration. An empty variable counts as one that is not set. Throws a ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const { values, problems } = readVariables(VARIABLES, env);
  const alertThresholds = toThresholds(values);
  const all = [
    ...problems,
    ...listUnknown(env, Object.keys(VARIABLES)),
    ...listMissing(values),
    ...listUnused(values),
    ...listRedisContradictions(values),
    ...listMailProblems(values),
    ...listContradictions(alertThresholds),
  ];
  if (all.length > 0)
    throw new ConfigError(
      `The configuration is not right:\n${all.map((p) => `  ${p}`).join('\n')}`,
    );
  const database = values.PLUMBLINE_DATABASE ?? findDefaultDatabase(env);
  return Object.freeze({
    database,
    secretsKeyFile: findSecretsKeyFile(values.PLUMBLINE_SECRETS_KEY_FILE, database),
    databaseOptions: toDatabaseOptions(values),
    host: values.PLUMBLINE_HOST,
    port: values.PLUMBLINE_PORT,
    processes: values.PLUMBLINE_PROCESSES,
    requestsPerKey: values.PLUMBLINE_REQUESTS_PER_KEY,
    requestsPerIp: values.PLUMBLINE_REQUESTS_PER_IP,
    maxConnections: values.PLUMBLINE_MAX_CONNECTIONS,
    maxConnectionsPerIp: values.PLUMBLINE_MAX_CONNECTIONS_PER_IP,
    trustedProxies: values.PLUMBLINE_TRUSTED_PROXIES,
    pageCacheBytes: values.PLUMBLINE_PAGE_CACHE_MB * 1024 * 1024,
    logLevel: values.PLUMBLINE_LOG_LEVEL,
    alertThresholds,
    dnsChecks: values.PLUMBLINE_DNS_CHECKS === 'on',
    dnsServers: values.PLUMBLINE_DNS_SERVERS,
    baseUrl: values.PLUMBLINE_BASE_URL,
    singleSignOn: toSingleSignOn(values),
    redis: toRedisConfig(values),
    ipDatabase: values.PLUMBLINE_IP_DATABASE,
    mailHost: values.PLUMBLINE_SMTP_NAME,
    reportAddress: values.PLUMBLINE_REPORT_ADDRESS,
    smtpRecipients: values.PLUMBLINE_SMTP_RECIPIENTS,
    watched: values.PLUMBLINE_WATCH,
    watchDone: values.PLUMBLINE_WATCH_DONE,
    smtp: toSmtp(values),
    imap: toImap(values),
  });
}

/** The variables that single sign-on needs besides the issuer. */
const WITH_ISSUER = [
  'PLUMBLINE_OIDC_CLIENT_ID',
  'PLUMBLINE_OIDC_CLIENT_SECRET',
  'PLUMBLINE_BASE_URL',
] as const;

function listMissing(values: Values): string[] {
  if (values.PLUMBLINE_OIDC_ISSUER === undefined) return [];
  const missing = WITH_ISSUER.filter((name) => values[name] === undefined);
  return missing.map((name) => `${name}: is required with PLUMBLINE_OIDC_ISSUER`);
}

function toSingleSignOn(values: Values): SingleSignOn | undefined {
  const {
    PLUMBLINE_OIDC_ISSUER: issuer,
    PLUMBLINE_OIDC_CLIENT_ID: clientId = '',
    PLUMBLINE_OIDC_CLIENT_SECRET: clientSecret = '',
  } = values;
  return issuer === undefined ? undefined : { issuer, clientId, clientSecret };
}

/** Pages and links begin at the root of the service, so a path would be lost. */
function toOrigin({ protocol, origin, pathname, search, hash }: URL): string | undefined {
  const isRoot = `${pathname}${search}${hash}` === '/';
  return isRoot && (protocol === 'https:' || protocol === 'http:') ? origin : undefined;
}

/** Plain HTTP is allowed for a provider on this machine only. */
function toIssuer({ protocol, hostname }: URL, given: string): string | undefined {
  const isSafe = protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1');
  return isSafe ? given : undefined;
}

function isNetwork(given: string): boolean {
  const [address = '', bits, ...rest] = given.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

/** An address, with or without a port, in the form that node:dns accepts. */
function isServer(given: string): boolean {
  const [, bracketed, plain] = /^(?:\[(.+)\]|([^:]+))(?::\d{1,5})?$/.exec(given) ?? [];
  return isIP(given) !== 0 || isIP(bracketed ?? '') === 6 || isIP(plain ?? '') === 4;
}
