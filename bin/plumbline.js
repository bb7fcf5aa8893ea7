#!/usr/bin/env node
/**
 * Where every process begins, in a checkout and in an installed package. It is plain JavaScript, so that an
 * older Node can read it and say which Node is needed.
 */
import { existsSync } from 'node:fs';

const NEEDED = 24;

const source = new URL('../src/cli.ts', import.meta.url);
const isCheckout = existsSync(source);

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  const hint = isCheckout ? ' To use the Node of this checkout: npm run plumbline -- …' : '';
  process.stderr.write(
    `Plumbline needs Node ${NEEDED} or later; this is Node ${process.versions.node}.${hint}\n`,
  );
  process.exitCode = 1;
} else {
  keepCompiledCode();
  await import(isCheckout ? source.href : '../dist/cli.js');
}

/**
 * Node keeps compiled code in the home folder of the user whose process this is: not where $HOME says, and not
 * in /tmp as it would by default, because whoever can write to that folder decides what runs. Where the folder
 * cannot be written, code is compiled at each start.
 */
function keepCompiledCode() {
  const { enableCompileCache } = process.getBuiltinModule('node:module');
  const { userInfo } = process.getBuiltinModule('node:os');
  const { join } = process.getBuiltinModule('node:path');
  try {
    enableCompileCache(join(userInfo().homedir, '.cache', 'plumbline'));
  } catch {
    // The user has no entry in the system's list of users, and so no home folder.
  }
}
