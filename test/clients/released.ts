import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NEEDED = ['openapi', 'test/clients', 'package.json', 'tsconfig.json'];
/** What building a client leaves in its folder. */
const BUILT = /\/(build|target|node_modules)$/;

/**
 * A copy of the clients in a new folder, which goes with this process, for a contract of an earlier release: they are generated from that
 * contract, and their programs are those of its time. Both are in `released/`, a folder for each version, so that
 * a clone without its history has them.
 */
export function copyReleased(version: string): string {
  const released = join(ROOT, 'test/clients/released', version);
  if (!existsSync(released)) throw new Error(`There are no clients of contract ${version}.`);
  const folder = mkdtempSync(join(tmpdir(), `plumbline-${version}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const needed of NEEDED)
    cpSync(join(ROOT, needed), join(folder, needed), {
      recursive: true,
      filter: (path) => !BUILT.test(path),
    });
  const clients = join(folder, 'test/clients/');
  cpSync(released, clients, { recursive: true });
  copyFileSync(join(released, 'v1.yaml'), join(folder, 'openapi/v1.yaml'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const folder of SHARED) share(join(ROOT, 'test/clients', folder), join(clients, folder));
  return clients;
}

/** What both versions of a client use: libraries that Cargo compiles for minutes, and what pip installs. */
const SHARED = ['rust/build', 'python/build/venv', 'python-openapi-generator/build/venv'];

/** Shares what was built for the current contract, if it was. */
function share(current: string, released: string): void {
  if (!existsSync(current)) return;
  mkdirSync(dirname(released), { recursive: true });
  symlinkSync(current, released);
}
