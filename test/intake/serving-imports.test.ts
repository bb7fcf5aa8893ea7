import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const IMPORT = /(?:^|\n)(?:import|export)\s(?!type\b)[^;]*?from '([^']+)'|\bimport\('([^']+)'\)/g;

/** All that a process which serves may load, by a static or a dynamic import: files of ours, and packages. */
function listImports(entry: string): {
  readonly files: Set<string>;
  readonly packages: Set<string>;
} {
  const [files, packages] = [new Set<string>(), new Set<string>()];
  const follow = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/typeof import\([^)]*\)/g, '');
    for (const [, first, second] of text.matchAll(IMPORT)) {
      const name = first ?? second ?? '';
      if (name.startsWith('.')) follow(relative(ROOT, join(ROOT, dirname(file), name)));
      else packages.add(name);
    }
  };
  follow(entry);
  return { files, packages };
}

/** What serves: with the server and the jobs, whose doors only take bytes. */
const { files, packages } = listImports('src/commands/serving/process.ts');
const ofIntake = [...files].filter((file) => file.startsWith('src/intake/'));
const foldersOf = (all: readonly string[]) =>
  [...new Set(all.map((file) => relative('src/intake', dirname(file))))].sort();

test('a process that serves reads nothing that strangers sent: it loads no reader and no check of signatures', () => {
  expect(files).toContain('src/intake/inbox/worker.ts');
  expect(files).toContain('src/intake/doors/smtp/smtp.ts');
  expect(foldersOf(ofIntake)).toEqual([
    '',
    'doors',
    'doors/folder',
    'doors/imap',
    'doors/smtp',
    'inbox',
    'inputs',
    'parser',
    'verification',
  ]);
  const ofReading = ofIntake.filter((file) => /\/(?:parser|verification)\//.test(file)).sort();
  expect(ofReading).toEqual([
    'src/intake/parser/parser-messages.ts',
    'src/intake/parser/parser-process.ts',
    'src/intake/verification/answers.ts',
    'src/intake/verification/verifier.ts',
  ]);
  const readers = [...packages].filter((name) =>
    /^(?:mailauth|libmime|yauzl|saxes|sax)/.test(name),
  );
  expect(readers).toEqual([]);
});

test('the process that parses loads them', () => {
  const child = listImports('src/intake/parser/parser-child.ts');
  expect([...child.packages]).toContain('mailauth/lib/dkim/dkim-verifier.js');
  expect([...child.packages]).toContain('yauzl');
});
