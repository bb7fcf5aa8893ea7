import { writeFile } from 'node:fs/promises';
import { renderGoodDay } from '../good-day.ts';
import { runPlumbline } from '../served-plumbline.ts';

/** Adds an account with a domain and a report to a database, and returns its key. */
export async function addOtherAccount(database: Readonly<Record<string, string>>): Promise<string> {
  const { id } = await runPlumbline(['account', 'create', 'Other'], database);
  await runPlumbline(['domain', 'add', id, 'other.example'], database);
  const when = { day: new Date('2026-01-01T00:00:00Z'), ip: '192.0.2.10' };
  await runPlumbline(['ingest', '-'], database, renderGoodDay('other.example', when));
  const { key } = await runPlumbline(['key', 'create', id, 'Other key'], database);
  return key;
}

/**
 * Keys and their names in the format of Web Fuzzing Commons, from which Schemathesis reads several
 * identities.
 */
export async function writeKeys(path: string, keys: Readonly<Record<string, string>>) {
  const auth = Object.entries(keys).map(([name, key]) => ({
    name,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }],
  }));
  await writeFile(path, JSON.stringify({ auth }));
}
