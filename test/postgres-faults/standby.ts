import { chownSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, startCopy, type TestServer } from '../support/postgres.ts';
import { SERVER_USER } from '../support/postgres-binaries.ts';

/** A copy of a server that follows it, and applies each change so long after it was committed. */
export async function aStandby(server: TestServer, lagS: number): Promise<TestServer> {
  const folder = makeFolder();
  await server.kill('SIGQUIT');
  cpSync(server.folder, folder, { recursive: true });
  await server.start();
  rmSync(join(folder, 'postmaster.pid'), { force: true });
  writeFileSync(join(folder, 'standby.signal'), '');
  if (SERVER_USER.uid !== undefined) giveToServer(folder);
  return await startCopy(folder, {
    primary_conninfo: `host=127.0.0.1 port=${server.port} user=plumbline`,
    recovery_min_apply_delay: `${lagS}s`,
    wal_retrieve_retry_interval: '100ms',
  });
}

function giveToServer(folder: string): void {
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, name), SERVER_USER.uid as number, SERVER_USER.gid as number);
}
