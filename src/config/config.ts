import { isIP } from 'node:net';
import { readBackups } from './backup.ts';
import { findDefaultDatabase, readDatabase } from './database.ts';
import { Environment } from './environment.ts';
import { readMailSettings } from './mail.ts';
import { readMailServer } from './mail-server.ts';
import { readRedis } from './redis.ts';
import { findSecretsKeyFile } from './secrets-key.ts';
import { readThresholds } from './thresholds.ts';
import { anyText, choice, decimal, file, list, networks, parsed, whole } from './variable.ts';

/** All settings from the environment, validated, with their defaults (docs/manual.md, “Configuration”). */
export type Config = ReturnType<typeof readConfig>;

const LIMIT = { min: 1, max: 1_000_000_000 };
const KEPT_DAYS = { min: 30, max: 100_000 };
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const VARIABLES = {
  host: anyText('PLUMBLINE_HOST', '127.0.0.1'),
  port: whole('PLUMBLINE_PORT', 8080, { min: 0, max: 65_535 }),
  /** Requests per minute. */
  requestsPerKey: whole('PLUMBLINE_REQUESTS_PER_KEY', 60, LIMIT),
  requestsPerIp: whole('PLUMBLINE_REQUESTS_PER_IP', 200, LIMIT),
  maxConnections: whole('PLUMBLINE_MAX_CONNECTIONS', 1_000, LIMIT),
  maxConnectionsPerIp: whole('PLUMBLINE_MAX_CONNECTIONS_PER_IP', 100, LIMIT),
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  trustedProxies: networks('PLUMBLINE_TRUSTED_PROXIES'),
  /** Addresses and networks that webhooks may call though they are not public, and ports like `:8443`. */
  webhookAllow: networks('PLUMBLINE_WEBHOOK_ALLOW', /^:\d{1,5}$/),
  logLevel: choice('PLUMBLINE_LOG_LEVEL', LEVELS, 'info'),
  /** Empty for the system's servers. */
  dnsServers: list(
    'PLUMBLINE_DNS_SERVERS',
    isDnsServer,
    'addresses like 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353',
  ),
  /** Has no slash at the end. */
  baseUrl: parsed(
    'PLUMBLINE_BASE_URL',
    parseOrigin,
    'must be a URL without a path, like https://dmarc.example.com',
  ),
  /** How the page at `/` calls the service. */
  serviceName: anyText('PLUMBLINE_NAME', undefined),
  /** A URI: `mailto:` for an e-mail address. */
  contact: parsed('PLUMBLINE_CONTACT', parseContact, 'must be an e-mail address or an https URL'),
  /** An MMDB file that knows the networks of addresses. */
  ipDatabase: file('PLUMBLINE_IP_DATABASE'),
};

/** Variables whose value is not a field of the configuration as it is. */
const OTHER_VARIABLES = {
  pageCacheMb: decimal('PLUMBLINE_PAGE_CACHE_MB', 32, { min: 0, max: 100_000 }),
  dnsChecks: choice('PLUMBLINE_DNS_CHECKS', ['on', 'off'], 'off'),
  policyFiles: choice('PLUMBLINE_POLICY_FILES', ['on', 'off'], 'on'),
  sandbox: choice('PLUMBLINE_SANDBOX', ['on', 'off'], 'on'),
  sharePort: choice('PLUMBLINE_SHARE_PORT', ['on', 'off'], 'off'),
  unclaimedMb: whole('PLUMBLINE_UNCLAIMED_MB', 500, { min: 1, max: 1_000_000 }),
  unclaimedDays: whole('PLUMBLINE_UNCLAIMED_DAYS', 90, { min: 1, max: 100_000 }),
  secretsKeyFile: anyText('PLUMBLINE_SECRETS_KEY_FILE', undefined),
  keepReportsDays: whole('PLUMBLINE_KEEP_REPORTS_DAYS', undefined, KEPT_DAYS),
  keepOriginalsDays: whole('PLUMBLINE_KEEP_ORIGINALS_DAYS', undefined, KEPT_DAYS),
  keepAuditDays: whole('PLUMBLINE_KEEP_AUDIT_DAYS', undefined, KEPT_DAYS),
  stopDelaySeconds: whole('PLUMBLINE_STOP_DELAY_SECONDS', 0, { min: 0, max: 300 }),
  metricsPort: whole('PLUMBLINE_METRICS_PORT', undefined, { min: 1, max: 65_535 }),
  metricsHost: anyText('PLUMBLINE_METRICS_HOST', '127.0.0.1'),
};

const SIGN_ON_VARIABLES = {
  issuer: parsed('PLUMBLINE_OIDC_ISSUER', parseIssuer, 'must be an https URL'),
  clientId: anyText('PLUMBLINE_OIDC_CLIENT_ID', undefined),
  clientSecret: anyText('PLUMBLINE_OIDC_CLIENT_SECRET', undefined),
};

/** Throws a ConfigError that names every problem. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const environment = new Environment(env);
  const values = environment.read(VARIABLES);
  const others = environment.read(OTHER_VARIABLES);
  const { database = findDefaultDatabase(env), databaseOptions } = readDatabase(environment);
  const backups = readBackups(environment, database);
  const { metricsHost: host, metricsPort: port } = others;
  const config = Object.freeze({
    ...values,
    ...readMailSettings(environment),
    mailServer: readMailServer(environment, values.baseUrl),
    /** The path of a SQLite database, or the URL of a PostgreSQL database. */
    database,
    databaseOptions: { ...databaseOptions, backupFolder: backups?.folder },
    backups,
    secretsKeyFile: findSecretsKeyFile(others.secretsKeyFile, database),
    pageCacheBytes: others.pageCacheMb * 1024 * 1024,
    /** The bounds of reports of domains that no account has, and of rejected documents. */
    unclaimed: { bytes: others.unclaimedMb * 1024 * 1024, days: others.unclaimedDays },
    /** How many days reports of accounts, their originals, and what the audit says are kept; undefined for ever. */
    kept: {
      reportsDays: others.keepReportsDays,
      originalsDays: others.keepOriginalsDays,
      auditDays: others.keepAuditDays,
    },
    alertThresholds: readThresholds(environment),
    dnsChecks: others.dnsChecks === 'on',
    fetchesPolicyFiles: others.policyFiles === 'on',
    hasSandbox: others.sandbox === 'on',
    /** Whether other servers listen on the same port. */
    sharesPort: others.sharePort === 'on',
    singleSignOn: readSingleSignOn(environment, values.baseUrl),
    redis: readRedis(environment),
    /** Where a process answers `GET /metrics`; undefined for nowhere. */
    metrics: port === undefined ? undefined : { host, port },
    /** How long a server that stops goes on listening. */
    stopDelayMs: others.stopDelaySeconds * 1000,
  });
  const ports = [config.port, config.metrics?.port, config.smtp?.port].filter(Boolean);
  const rule =
    'PLUMBLINE_PORT, PLUMBLINE_METRICS_PORT, PLUMBLINE_SMTP_PORT: must be different ports';
  environment.refuse(new Set(ports).size < ports.length, rule);
  environment.check();
  return config;
}

function readSingleSignOn(environment: Environment, baseUrl?: string) {
  const { issuer, clientId = '', clientSecret = '' } = environment.read(SIGN_ON_VARIABLES);
  if (issuer === undefined) return undefined;
  const needed = {
    PLUMBLINE_OIDC_CLIENT_ID: clientId,
    PLUMBLINE_OIDC_CLIENT_SECRET: clientSecret,
    PLUMBLINE_BASE_URL: baseUrl,
  };
  environment.require(needed, 'PLUMBLINE_OIDC_ISSUER');
  return { issuer, clientId, clientSecret };
}

/** Pages and links begin at the root of the service, so a path would be lost. */
function parseOrigin(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const { protocol, origin, pathname, search, hash } = new URL(value);
  const isRoot = `${pathname}${search}${hash}` === '/';
  return isRoot && (protocol === 'https:' || protocol === 'http:') ? origin : undefined;
}

/** A mail address has only characters that need no encoding in `mailto:`. */
function parseContact(value: string): string | undefined {
  if (/^[\w.+-]{1,64}@(?:[a-z\d-]+\.)+[a-z\d-]{2,}$/i.test(value)) return `mailto:${value}`;
  return /^https:/i.test(value) && URL.canParse(value) ? new URL(value).href : undefined;
}

/** Plain HTTP is allowed for a provider on this machine only. */
function parseIssuer(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const { protocol, hostname } = new URL(value);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1');
  return isSafe ? value : undefined;
}

/** An address, with or without a port, in the form that node:dns accepts. */
function isDnsServer(value: string): boolean {
  const [, bracketed, plain] = /^(?:\[(.+)\]|([^:]+))(?::[1-6]?\d{1,4})?$/.exec(value) ?? [];
  return isIP(value) !== 0 || isIP(bracketed ?? '') === 6 || isIP(plain ?? '') === 4;
}
