import type { RedisConfig } from '../../config/redis.ts';
import { readPasswordFile, readSecretFile } from '../../config/secret-file.ts';

export interface Secrets {
  readonly password: string | undefined;
  readonly ca: string | undefined;
}

/** The password and the certificates, from their files. Throws a ConfigError when a file cannot be read. */
export function readSecrets({ password, passwordFile, caFile }: RedisConfig): Secrets {
  return {
    password:
      passwordFile === undefined
        ? password
        : readPasswordFile('PLUMBLINE_REDIS_PASSWORD_FILE', passwordFile),
    ca: caFile === undefined ? undefined : readSecretFile('PLUMBLINE_REDIS_CA', caFile),
  };
}
