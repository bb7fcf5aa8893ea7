/** The other process: it takes the write lock of each database that it is given, again and again. */
import Database from 'better-sqlite3';

const HOLD_MS = 8;
const PAUSE_MS = 12;
const databases = new Map<string, Database.Database>();

process.on('message', ({ attach, detach }: { attach?: string; detach?: string }) => {
  if (attach !== undefined) databases.set(attach, new Database(attach));
  if (detach !== undefined) {
    databases.get(detach)?.close();
    databases.delete(detach);
  }
  process.send?.('done');
});
process.on('disconnect', () => process.exit());

function writeEach(): void {
  const held = [...databases.values()].filter(begin);
  setTimeout(() => {
    for (const database of held) if (database.inTransaction) database.exec('commit');
    setTimeout(writeEach, PAUSE_MS);
  }, HOLD_MS);
}

/** A write that does not change any value that a test reads. */
function begin(database: Database.Database): boolean {
  try {
    database.pragma('busy_timeout = 0');
    database.exec('begin immediate; update kysely_migration_lock set is_locked = is_locked');
    return true;
  } catch {
    return false;
  }
}

writeEach();
