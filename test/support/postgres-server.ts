import { chmodSync, chownSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/store/engine/open.ts';
import { startPostgres } from './postgres.ts';
import { SERVER_USER } from './postgres-binaries.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the server's own database, of which test databases are copies. */
    postgres: string;
  }
}

/** Made for tests: `openssl req -x509`, for 127.0.0.1, valid until 2099. */
export const CERTIFICATE = fileURLToPath(
  new URL('../postgres/certificate/server.crt', import.meta.url),
);

/** Starts one server for all tests of a run, with a migrated database to make copies of. */
export default async function setup(
  project: Pick<TestProject, 'provide'>,
): Promise<() => Promise<void>> {
  const server = await startPostgres({
    prepare,
    settings: { ssl: 'on', ssl_cert_file: 'server.crt', ssl_key_file: 'server.key' },
  });
  const template = server.toUrl('postgres');
  await (await openStore(template)).close();
  project.provide('postgres', template);
  return server.stop;
}

/** Users whose names begin with `guest` need their password; all others need none. */
function prepare(folder: string): void {
  const access = join(folder, 'pg_hba.conf');
  const others = readFileSync(access, 'utf8');
  writeFileSync(access, `host all /^guest 127.0.0.1/32 scram-sha-256\n${others}`);
  copyFileSync(CERTIFICATE, join(folder, 'server.crt'));
  const key = join(folder, 'server.key');
  copyFileSync(CERTIFICATE.replace(/crt$/, 'key'), key);
  chmodSync(key, 0o600);
  if (SERVER_USER.uid !== undefined) chownSync(key, SERVER_USER.uid, SERVER_USER.gid);
}
