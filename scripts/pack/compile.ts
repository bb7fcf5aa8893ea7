import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A module that is started by its URL: a child process or a thread. tsc rewrites imports only. */
const MODULE_URL = /new URL\('(\.[^']+)\.ts', import\.meta\.url\)/g;
const ASSETS = 'settings/frame/assets';
/** Files that modules read, beside them. */
const BESIDE = [ASSETS, 'judging/services', 'demo/networks'];

/** Writes `src/` as JavaScript into `dist/`, with the files beside the modules and the contract as JSON. */
export async function compile(root: string): Promise<void> {
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/typescript-native/bin/tsc'), '--project', 'tsconfig.pack.json'],
    { cwd: root, stdio: 'inherit' },
  );
  for (const file of listCompiled(root)) rewrite(file, toCompiledUrls);
  for (const folder of BESIDE)
    cpSync(join(root, 'src', folder), join(root, 'dist', folder), { recursive: true });
  // Parsing YAML at each start would take longer than everything else that reads the contract.
  const contract: unknown = parse(readFileSync(join(root, 'openapi/v1.yaml'), 'utf8'));
  writeFileSync(join(root, 'dist/v1.json'), JSON.stringify(contract));
}

export function listCompiled(root: string): string[] {
  const files = globSync('dist/**/*.js', { cwd: root, exclude: ['dist/node_modules/**'] });
  return files.filter((file) => !file.includes(ASSETS)).map((file) => join(root, file));
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function toCompiledUrls(text: string): string {
  return text.replaceAll(MODULE_URL, "new URL('$1.js', import.meta.url)");
}
