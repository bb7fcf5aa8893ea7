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

/** The parts of Redoc's page, separated so that every script is a file. */
export interface Reference {
  readonly html: string;
  readonly css: string;
  /** Sets light or dark before the page is rendered. */
  readonly colorScript: string;
  /** Redoc as a module, with the contract in it. */
  readonly script: string;
}

/** The reference as rendered by Redoc, split into its parts. */
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

/** A part of Redoc's page. Throws when the page has another form after an update. */
function cut(text: string, pattern: RegExp): string {
  const part = pattern.exec(text)?.[1];
  if (part === undefined) throw new Error(`Redoc's page has changed: it has no ${pattern}.`);
  return part;
}

/** Removes Redoc's logo, which would be requested from another origin. reference.css adds its name as text. */
function withoutLogo(script: string): string {
  return script.replaceAll(/https:\/\/cdn\.redoc\.ly\/redoc\/[a-z-]+\.svg/g, 'data:,');
}

/**
 * The links that Redoc renders in advance are paths that only its script understands. This turns them into
 * anchors.
 */
function toHashLinks(html: string): string {
  return html.replaceAll(/href="(\/(?!docs\/)[^"]*)"/g, 'href="#$1"');
}
