import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/* Servers that listen on one port, among which Linux distributes connections (decision 75). */

const MIGRATION = '/proc/sys/net/ipv4/tcp_migrate_req';

/** Logs what a shared port lacks on this machine: each line says how to get it. */
export function warnOfSharing({ redis }: Pick<Config, 'redis'>, log: Logger): void {
  if (redis === undefined)
    log.warn(
      'limits are counted in this process alone: PLUMBLINE_REDIS counts those of a shared port together',
    );
  if (!migratesConnections())
    log.warn(
      'connections that wait for a server when it stops are reset: sysctl net.ipv4.tcp_migrate_req=1 gives them to another one',
    );
}

/** Whether connections that wait for a server which stops go to another one. Linux older than 5.14 has no such setting. */
function migratesConnections(): boolean {
  try {
    return readFileSync(MIGRATION, 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
