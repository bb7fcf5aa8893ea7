/** The process that makes a sandbox's database, and writes its bytes to standard output. */
import crypto, { hash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { fillSqlite } from '../store/engine/sqlite/open.ts';
import { fillSandbox } from './sandbox-data.ts';

const [day = '', release = ''] = process.argv.slice(2);
/** Version and variant of a UUID take the places of two digits. */
const DIGITS = /(.{8})(.{4}).(.{3}).(.{3})/;

replaceRandom(`${release} ${day}`);
const bytes = await fillSqlite((store) => fillSandbox(store, new Date(day)));
process.stdout.write(bytes);

/**
 * What is random in this process is derived from the day and the release instead: ids, versions and cursors are the same on all
 * servers, so that a client can go on with another one, and no others have them. The process makes no secret.
 */
function replaceRandom(seed: string): void {
  let count = 0;
  const derive = (size: number): Buffer => {
    count += 1;
    return hash('sha256', `${seed} ${count}`, 'buffer').subarray(0, size);
  };
  const randomInt = (...bounds: number[]): number =>
    derive(4).readUInt32BE() % (bounds.at(-1) ?? 1);
  const randomUUID = (): string => derive(16).toString('hex').replace(DIGITS, '$1-$2-4$3-8$4-');
  Object.assign(crypto, { randomBytes: derive, randomInt, randomUUID });
  syncBuiltinESMExports();
}
