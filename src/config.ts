import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { THRESHOLD_VARIABLES, toThresholds } from './config-thresholds.ts';
import type { Thresholds } from './domain/alerts/thresholds.ts';

/** All settings from the environment, validated, with their defaults (README, “Configuration”). */
export interface Config {
  readonly database: string;
  readonly host: string;
  readonly port: number;
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
}

export interface SingleSignOn {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const limit = z.coerce.number().int().min(1).max(1_000_000_000);

/** A list in one variable, separated by commas. */
const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((item) => item.trim()))
  .transform((items) => items.filter((item) => item !== ''));

const environment = z.object({
  PLUMBLINE_DATABASE: z.string().min(1).default('data/plumbline.db'),
  PLUMBLINE_HOST: z.string().min(1).default('127.0.0.1'),
  PLUMBLINE_PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  PLUMBLINE_REQUESTS_PER_KEY: limit.default(60),
  PLUMBLINE_REQUESTS_PER_IP: limit.default(200),
  PLUMBLINE_MAX_CONNECTIONS: limit.default(1_000),
  PLUMBLINE_MAX_CONNECTIONS_PER_IP: limit.default(100),
  PLUMBLINE_TRUSTED_PROXIES: list.refine((items) => items.every(isNetwork), {
    error: 'must be addresses or networks like 10.0.0.0/8, separated by commas',
  }),
  PLUMBLINE_PAGE_CACHE_MB: z.coerce.number().min(0).max(100_000).default(32),
  PLUMBLINE_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info'),
  PLUMBLINE_DNS_CHECKS: z.enum(['on', 'off']).default('off'),
  PLUMBLINE_DNS_SERVERS: list.refine((items) => items.every(isServer), {
    error:
      'must be addresses like 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353, separated by commas',
  }),
  ...THRESHOLD_VARIABLES,
  PLUMBLINE_BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL like https://dmarc.example.com' })
    .transform((url) => new URL(url).origin)
    .optional(),
  PLUMBLINE_OIDC_ISSUER: z.url().refine(isSafeIssuer, { error: 'must be an https URL' }).optional(),
  PLUMBLINE_OIDC_CLIENT_ID: z.string().optional(),
  PLUMBLINE_OIDC_CLIENT_SECRET: z.string().optional(),
});

/** The variables that single sign-on needs besides the issuer. */
const WITH_ISSUER = [
  'PLUMBLINE_OIDC_CLIENT_ID',
  'PLUMBLINE_OIDC_CLIENT_SECRET',
  'PLUMBLINE_BASE_URL',
] as const;

const checked = environment.superRefine((data, context) => {
  if (data.PLUMBLINE_OIDC_ISSUER === undefined) return;
  for (const name of WITH_ISSUER.filter((needed) => data[needed] === undefined)) {
    context.addIssue({
      code: 'custom',
      path: [name],
      message: 'is required with PLUMBLINE_OIDC_ISSUER',
    });
  }
});

/** The environment has invalid settings. The message names each variable, for a person to correct. */
export class ConfigError extends Error {}

/** Reads the configuration. An empty variable counts as one that is not set. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { data, error } = checked.safeParse(given);
  if (error !== undefined) throw new ConfigError(toMessage(error));
  return Object.freeze({
    database: data.PLUMBLINE_DATABASE,
    host: data.PLUMBLINE_HOST,
    port: data.PLUMBLINE_PORT,
    requestsPerKey: data.PLUMBLINE_REQUESTS_PER_KEY,
    requestsPerIp: data.PLUMBLINE_REQUESTS_PER_IP,
    maxConnections: data.PLUMBLINE_MAX_CONNECTIONS,
    maxConnectionsPerIp: data.PLUMBLINE_MAX_CONNECTIONS_PER_IP,
    trustedProxies: data.PLUMBLINE_TRUSTED_PROXIES,
    pageCacheBytes: data.PLUMBLINE_PAGE_CACHE_MB * 1024 * 1024,
    logLevel: data.PLUMBLINE_LOG_LEVEL,
    alertThresholds: toThresholds(data),
    dnsChecks: data.PLUMBLINE_DNS_CHECKS === 'on',
    dnsServers: data.PLUMBLINE_DNS_SERVERS,
    baseUrl: data.PLUMBLINE_BASE_URL,
    singleSignOn: toSingleSignOn(data),
  });
}

function toSingleSignOn(data: z.infer<typeof environment>): SingleSignOn | undefined {
  const issuer = data.PLUMBLINE_OIDC_ISSUER;
  const [clientId = '', clientSecret = ''] = [
    data.PLUMBLINE_OIDC_CLIENT_ID,
    data.PLUMBLINE_OIDC_CLIENT_SECRET,
  ];
  return issuer === undefined ? undefined : { issuer, clientId, clientSecret };
}

/** Beside package.json. Never the current folder: it may contain untrusted files. */
const ENV_FILE = fileURLToPath(new URL('../.env', import.meta.url));

/**
 * Adds the settings of the file that PLUMBLINE_CONFIG names, else of the installation's `.env`. The
 * environment has precedence.
 */
export function loadEnvFile(): void {
  const named = process.env['PLUMBLINE_CONFIG'] || undefined;
  try {
    process.loadEnvFile(named ?? ENV_FILE);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissing) throw error;
    if (named !== undefined) throw new ConfigError(`PLUMBLINE_CONFIG: there is no file ${named}.`);
  }
}

function toMessage(error: z.ZodError): string {
  const lines = error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  return `The configuration is not right:\n${lines.join('\n')}`;
}

/** Plain HTTP is allowed for a provider on this machine only. */
function isSafeIssuer(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1');
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

/** An address, with or without a port, in the form that node:dns accepts. */
function isServer(text: string): boolean {
  const [, bracketed, plain] = /^(?:\[(.+)\]|([^:]+))(?::\d{1,5})?$/.exec(text) ?? [];
  return isIP(text) !== 0 || isIP(bracketed ?? '') === 6 || isIP(plain ?? '') === 4;
}
