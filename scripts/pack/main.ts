/**
 * What `npm pack` runs: `prepack` builds `dist/` and writes the package's own package.json, and `postpack`
 * (`main.ts restore`) puts the checkout's back.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile } from './compile.ts';
import { joinLibraries } from './libraries.ts';
import { restoreManifest, writeManifest } from './manifest.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

restoreManifest(ROOT);
if (process.argv[2] !== 'restore') await build();

async function build(): Promise<void> {
  rmSync(`${ROOT}/dist`, { recursive: true, force: true });
  for (const script of ['scripts/docs/main.ts', 'scripts/networks/main.ts'])
    execFileSync(process.execPath, [script], { cwd: ROOT, stdio: 'inherit' });
  await compile(ROOT);
  writeManifest(ROOT, await joinLibraries(ROOT));
}
