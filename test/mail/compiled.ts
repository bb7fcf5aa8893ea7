import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from '../../scripts/pack/compile.ts';
import { aFolder } from '../support/command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = [
  'src',
  'generated',
  'openapi',
  'package.json',
  'tsconfig.json',
  'tsconfig.pack.json',
];

/** The path of the command as the package has it, compiled. With `src/` a process also has what strips its types. */
export async function compileCommand(): Promise<string> {
  const folder = await aFolder();
  for (const name of COPIED) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await compile(folder);
  return join(folder, 'dist/cli.js');
}
