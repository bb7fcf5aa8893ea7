import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readNames } from '../../scripts/pack/imports.ts';
import { INSTALLED } from '../../scripts/pack/libraries.ts';
import { restoreManifest, writeManifest } from '../../scripts/pack/manifest.ts';
import { aFolder } from '../support/command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BIN = join(ROOT, 'bin/plumbline.js');
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

const LIBRARY = { name: '@scope/library', version: '1.2.3-beta', license: 'MIT' };

/** A folder with what writing the package's own package.json reads. */
async function aCheckout(): Promise<string> {
  const folder = await aFolder();
  mkdirSync(join(folder, 'dist'));
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const library of INSTALLED) {
    const manifest = `node_modules/${library}/package.json`;
    cpSync(join(ROOT, manifest), join(folder, manifest));
  }
  return folder;
}

test('the package installs neither Node nor anything that only developing needs', async () => {
  const folder = await aCheckout();
  writeManifest(folder, []);
  const manifest = readJson(join(folder, 'package.json'));
  expect(Object.keys(manifest.dependencies)).toEqual(INSTALLED);
  expect(Object.values(manifest.dependencies)).toEqual(
    INSTALLED.map(
      (library) => readJson(join(ROOT, `node_modules/${library}/package.json`)).version,
    ),
  );
  expect(manifest).not.toHaveProperty('optionalDependencies');
  expect(manifest).not.toHaveProperty('devDependencies');
  expect(manifest).not.toHaveProperty('scripts');
  expect(manifest.engines).toEqual({ node: '>=24' });
});

/** The paths to which links of the package's documents lead, from its root. */
function listTargets(folder: string): string[] {
  return globSync('{*,docs/**/*}.md', { cwd: folder }).flatMap((document) => {
    const text = readFileSync(join(folder, document), 'utf8');
    const links = /(?:\]\(|\b(?:src|srcset|href)=")(?!https?:|#)([^)#\s"]+)/g;
    return [...text.matchAll(links)].map(([, target = '']) => join(dirname(document), target));
  });
}

test('the documents of the package, its README too, linked files that it lacks', async () => {
  const folder = await aCheckout();
  const { files } = readJson(join(ROOT, 'package.json'));
  const packed = ['README.md', 'LICENSE', ...files.filter((file: string) => !file.startsWith('!'))];
  // As npm copies them; what a build makes is not there.
  for (const path of packed.filter(
    (one) => existsSync(join(ROOT, one)) && !/^(dist|site)/.test(one),
  ))
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  const before = listTargets(folder);
  writeManifest(folder, []);
  const targets = listTargets(folder);
  expect(targets.length).toBeGreaterThan(50);
  expect(before.length).toBeGreaterThan(targets.length);
  expect(targets.filter((target) => !existsSync(join(folder, target)))).toEqual([]);
  // A sentence that lost its link alone said nothing.
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  expect(readme).toContain('read getting started (`/docs/getting-started` of a server), or');
  expect(readme).toContain('Developing (`docs/develop.md` of a checkout) has the rest.');
  restoreManifest(folder);
  expect(listTargets(folder)).toEqual(before);
});

test('the checkout’s package.json is put back, also after a pack that was interrupted', async () => {
  const folder = await aCheckout();
  writeManifest(folder, [LIBRARY]);
  restoreManifest(folder);
  restoreManifest(folder);
  const path = join(folder, 'package.json');
  expect(readFileSync(path)).toEqual(readFileSync(join(ROOT, 'package.json')));
  expect(existsSync(join(folder, 'dist'))).toBe(false);
  expect(globSync('node_modules/joined-*', { cwd: folder })).toEqual([]);
});

test('a joined library is in the package by name and version, so that npm audit knows it', async () => {
  const folder = await aCheckout();
  writeManifest(folder, [LIBRARY]);
  const { dependencies, bundleDependencies } = readJson(join(folder, 'package.json'));
  const alias = 'joined-scope-library-1.2.3-beta';
  expect(bundleDependencies).toEqual([alias]);
  expect(dependencies[alias]).toBe('npm:@scope/library@1.2.3-beta');
  expect(readJson(join(folder, 'node_modules', alias, 'package.json'))).toEqual(LIBRARY);
});

test('every name that the compiled code imports from a library is found', () => {
  const text = `import express, { Router } from 'express';
import { Kysely,
    sql as text, } from 'kysely';
import * as openid from 'openid-client';
import './first.js';
const { parse } = await import('tldts');
import Database from "better-sqlite3";`;
  expect(readNames(text)).toEqual([
    ['express', 'default'],
    ['express', 'Router'],
    ['kysely', 'Kysely'],
    ['kysely', 'sql'],
    ['openid-client', '*'],
    ['better-sqlite3', 'default'],
    ['tldts', '*'],
  ]);
});

test('an older Node says in one line which Node is needed, and in a checkout how to start it', () => {
  const older = `data:text/javascript,
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.4' } })`;
  const run = () =>
    execFileSync(process.execPath, ['--import', older, BIN, 'serve'], { stdio: 'pipe' });
  expect(run).toThrow(
    expect.objectContaining({
      status: 1,
      stderr: Buffer.from(
        'Plumbline needs Node 24 or later; this is Node 20.19.4. To use the Node of this checkout: npm run plumbline -- …\n',
      ),
    }),
  );
});
