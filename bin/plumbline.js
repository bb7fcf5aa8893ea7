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
  saveMemory();
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

/**
 * What serves and works for long starts again with settings that save memory (docs/performance.md, "Memory"), because glibc and
 * V8 read them before any code runs. On Linux the new program takes the place of this one, with its number and its files. A
 * parent that talks to this process would lose it.
 */
function saveMemory() {
  const flags = ['--max-semi-space-size=8', '--heap-growing-percent=20'];
  const isLong = ['serve', 'work', 'demo'].some((name) => process.argv.includes(name));
  const isDone = process.execArgv.includes(flags[1]) || process.connected;
  if (!isLong || isDone || process.platform !== 'linux') return;
  const args = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)];
  const settings = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536' };
  process.execve(process.execPath, args, { ...settings, ...process.env });
}
