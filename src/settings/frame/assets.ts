import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { chooseCoding, compress, IMMUTABLE } from '../../domain/content-coding.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const packaged = createRequire(import.meta.url);
const own = (name: string) => new URL(`./assets/${name}`, import.meta.url);

/** The order matters: later rules override earlier ones. */
const STYLE =
  'palette scale pico brand unseen frame text forms lists drawings ranges reports people sources over print';

const ASSETS = {
  pico: read('pico.css', packaged.resolve('@picocss/pico/css/pico.min.css')),
  style: read('settings.css', ...STYLE.split(' ').map((name) => own(`style/${name}.css`))),
  htmx: read('htmx.js', packaged.resolve('htmx.org/dist/htmx.min.js')),
  script: read('settings.js', own('settings.js')),
  icon: read('icon.svg', own('icon.svg')),
};

export function assetPath(asset: keyof typeof ASSETS): string {
  return `/settings/assets/${ASSETS[asset].name}`;
}

/** Serves the assets, and no other file of the folder. */
export function serveAssets(): Router {
  const router = Router();
  for (const asset of Object.values(ASSETS)) router.get(`/${asset.name}`, send(asset));
  return router;
}

function send({ type, bytes, compressed }: ReturnType<typeof read>): RequestHandler {
  return async (req, res) => {
    res.set({ 'Content-Type': type, Vary: 'Accept-Encoding', 'Cache-Control': IMMUTABLE });
    const coding = chooseCoding(req, ['br', 'gzip']);
    if (coding === 'identity') return void res.end(bytes);
    compressed[coding] ??= compress(bytes, coding);
    res.set('Content-Encoding', coding).end(await compressed[coding]);
  };
}

/** The path contains a hash of the content, so that browsers may cache it without limit. */
function read(name: string, ...files: (string | URL)[]) {
  const bytes = Buffer.concat(files.map((file) => readFileSync(file)));
  const extension = extname(name);
  const version = hash('sha256', bytes, 'hex').slice(0, 12);
  return {
    name: name.replace(extension, `.${version}${extension}`),
    type: TYPES[extension] as string,
    bytes,
    /** Compressed once, for the first request that accepts it. */
    compressed: {} as { br?: Promise<Buffer>; gzip?: Promise<Buffer> },
  };
}
