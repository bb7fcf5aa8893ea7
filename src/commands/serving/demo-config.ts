import type { Config } from '../../config/config.ts';
import { findSecretsKeyFile } from '../../config/secrets-key.ts';

/**
 * The configuration of a demo: its database and what belongs to it are its own, whatever is configured. Its domains are
 * made up, so DNS has no records for them. Its requests must not use up the service's limits.
 */
export function toDemoConfig(config: Config, database: string): Config {
  const secretsKeyFile = findSecretsKeyFile(undefined, database);
  return { ...config, database, secretsKeyFile, dnsChecks: false, redis: undefined };
}
