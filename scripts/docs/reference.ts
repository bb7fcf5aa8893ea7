import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Contract, toDrawn } from './drawn.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TEMPLATE = fileURLToPath(new URL('./redoc.hbs', import.meta.url));
const SEAM = '<!-- the head ends -->';

/** Redoc's page in parts, so that none of its scripts has to stand inside a page. */
export interface Reference {
  readonly html: string;
  readonly css: string;
  /** Sets light or dark before anything is drawn. */
  readonly colorScript: string;
  /** Redoc itself, a module, with the contract in it. */
  readonly script: string;
}

/** The reference, drawn by Redoc and taken apart. */
export async function buildReference(contract: Contract): Promise<Reference> {
  const [head = '', body = ''] = (await runRedocly(contract)).split(SEAM);
  const css = cut(head, /<style data-styled[^>]*>(.*?)<\/style>/s);
  const script = cut(body, /<script type="module">(.*?)<\/script>/s);
  const drawn = body.slice(0, body.indexOf('<script type="module">'));
  const colorScript = cut(drawn, /<script>(.*?)<\/script>/s);
  return {
    css,
    colorScript,
    script: withoutLogo(script),
    html: toHashLinks(drawn.replace(`<script>${colorScript}</script>`, '')),
  };
}

async function runRedocly(contract: Contract): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-docs-'));
  const [source, drawn] = [join(folder, 'v1.json'), join(folder, 'redoc.html')];
  const options = ['--inlineBundle', '--template', TEMPLATE, '--output', drawn];
  try {
    await writeFile(source, JSON.stringify(toDrawn(contract)));
    // npx, because redocly has to run on the Node that npm puts first on the PATH.
    await promisify(execFile)(
      'npx',
      ['--no-install', 'redocly', 'build-docs', source, ...options],
      {
        cwd: ROOT,
        env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    return await readFile(drawn, 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A part of Redoc's page; that it looks different some day must not go by unseen. */
function cut(text: string, pattern: RegExp): string {
  const part = pattern.exec(text)?.[1];
  if (part === undefined) throw new Error(`Redoc's page has changed: it has no ${pattern}.`);
  return part;
}

/** Redoc's own name is written by reference.css: its picture would be asked for at another origin. */
function withoutLogo(script: string): string {
  return script.replaceAll(/https:\/\/cdn\.redoc\.ly\/redoc\/[a-z-]+\.svg/g, 'data:,');
}

/** What was drawn beforehand names its places as paths, which only its script would understand; guides have theirs. */
function toHashLinks(html: string): string {
  return html.replaceAll(/href="(\/(?!docs\/)[^"]*)"/g, 'href="#$1"');
}
