/**
 * `npm run docs` builds the docs site into `site/`. With `--if-needed`, it builds only when the site is older
 * than its sources; a build that is not possible (its packages are not installed) is then reported and is not
 * an error.
 */
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SITE = join(ROOT, 'site');
const SOURCES = [
  'openapi/**/*',
  'scripts/docs/**/*',
  'scripts/contract/changelog.ts',
  'src/settings/frame/assets/icon.svg',
  'src/settings/frame/assets/style/{palette,scale,base,brand,unseen,code}.css',
  'docs/pictures/overview-*.webp',
  'src/settings/frame/logo.ts',
  'src/domain/sandbox.ts',
  'test/clients/{typescript/scenario.ts,python/scenario.py,go/main.go}',
  'CHANGELOG.md',
  'package.json',
  'redocly.yaml',
];

const isOptional = process.argv.includes('--if-needed');
if (!isOptional || isOlder()) await build();

async function build(): Promise<void> {
  tell('Building the docs in site/: it takes up to two minutes and 900 MB of memory.');
  try {
    // Imported only here: an existing site is served without the packages that build it.
    const { buildSite, writeSite } = await import('./site.ts');
    const site = await buildSite();
    await writeSite(site, SITE);
    tell(`The docs are in site/: ${site.size} files.`);
  } catch (error) {
    if (!isOptional) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const cause = code === 'ERR_MODULE_NOT_FOUND' ? 'the development packages build them' : message;
    tell(`The docs in site/ are missing or out of date: ${cause}. Everything else is served.`);
  }
}

function isOlder(): boolean {
  // The file that is written last, so that an interrupted build does not count.
  const builtAt = statSync(join(SITE, '404.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync(SOURCES, { cwd: ROOT }).map((path) => join(ROOT, path));
  return sources.some((path) => statSync(path).mtimeMs > builtAt);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
