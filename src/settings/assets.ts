import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type RequestHandler, Router } from 'express';
import Negotiator from 'negotiator';

/** Where browsers find the pages' style and script: named by content, so that they may be kept for ever. */
interface Asset {
  readonly name: string;
  readonly type: string;
  readonly bodies: Readonly<Record<'br' | 'gzip' | 'identity', Buffer>>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const packaged = createRequire(import.meta.url);
const own = (name: string) => new URL(`./assets/${name}`, import.meta.url);

const ASSETS = {
  pico: read('pico.css', packaged.resolve('@picocss/pico/css/pico.min.css')),
  style: read('settings.css', own('settings.css')),
  htmx: read('htmx.js', packaged.resolve('htmx.org/dist/htmx.min.js')),
  script: read('settings.js', own('settings.js')),
  icon: read('icon.svg', own('icon.svg')),
};

/** The path of an asset, for a page to name. */
export function assetPath(asset: keyof typeof ASSETS): string {
  return `/settings/assets/${ASSETS[asset].name}`;
}

/** Serves the assets, and nothing else that lies beside them. */
export function serveAssets(): Router {
  const router = Router();
  for (const asset of Object.values(ASSETS)) router.get(`/${asset.name}`, send(asset));
  return router;
}

function send({ type, bodies }: Asset): RequestHandler {
  return (req, res) => {
    const [encoding = 'identity'] = new Negotiator(req).encodings(['br', 'gzip', 'identity']);
    const body = bodies[encoding as keyof typeof bodies];
    res.set({ 'Content-Type': type, Vary: 'Accept-Encoding' });
    res.set('Cache-Control', 'public, max-age=31536000, immutable');
    if (encoding !== 'identity') res.set('Content-Encoding', encoding);
    res.end(body);
  };
}

function read(name: string, file: string | URL): Asset {
  const identity = readFileSync(file);
  const extension = extname(name);
  const version = hash('sha256', identity, 'hex').slice(0, 12);
  return {
    name: name.replace(extension, `.${version}${extension}`),
    type: TYPES[extension] as string,
    bodies: { identity, br: brotliCompressSync(identity), gzip: gzipSync(identity) },
  };
}
