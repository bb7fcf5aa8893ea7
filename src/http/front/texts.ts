import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import { chooseCompression, compressOnce } from '../../domain/content-coding.ts';
import { SHOWN_ADDRESS, toOwnAddress } from '../../domain/own-address.ts';

/** More than all pages of the docs have. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

type Parts = readonly Buffer[];

/** Sends a text of the docs' site; resolves with false when the site has no such file. */
export type SendFile = (res: Response, name: string) => Promise<boolean>;

/**
 * Texts of the site, with the server's own address where they show that of the docs. A file is kept as the parts between:
 * answers for any number of hosts share them, so that neither many hosts nor many slow readers fill the memory.
 */
export function openTexts(site: string, baseUrl: string | undefined): SendFile {
  const kept = new LRUCache<string, Parts>({ maxSize: MAX_KEPT_BYTES });
  return async (res, name) => {
    const parts = await readParts(kept, join(site, name)).catch(() => undefined);
    if (parts === undefined) return false;
    const address = Buffer.from(toOwnAddress(res.req, baseUrl));
    const joined = parts.flatMap((part, i) => (i === 0 ? part : [address, part]));
    await sendParts(res.type(extname(name)), joined);
    return true;
  };
}

/** The site may be built while the server runs, so a file is read again when it was written again. */
async function readParts(kept: LRUCache<string, Parts>, path: string): Promise<Parts> {
  const { mtimeMs, size } = await stat(path);
  const key = `${path} ${mtimeMs}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const text = await readFile(path, 'utf8');
  const parts = text.split(SHOWN_ADDRESS).map((part) => Buffer.from(part));
  kept.set(key, parts, { size: size + 1 });
  return parts;
}

/** The entity tag is that of the bytes that are sent, and so another one for each coding. */
export async function sendParts(res: Response, parts: Parts): Promise<void> {
  const compression = chooseCompression(res.req, sumLengths(parts));
  const tag = createHash('sha256').update(compression ?? '');
  for (const part of parts) tag.update(part);
  res.vary('Accept-Encoding');
  res.set({ 'Cache-Control': 'no-cache', ETag: `"${tag.digest('base64url').slice(0, 22)}"` });
  if (res.req.fresh) return void res.status(304).end();
  if (compression === undefined) return write(res, parts);
  res.set('Content-Encoding', compression);
  write(res, [await compressOnce(Buffer.concat(parts), compression)]);
}

function write(res: Response, parts: Parts): void {
  res.setHeader('Content-Length', sumLengths(parts)).cork();
  for (const part of parts) res.write(part);
  res.end();
}

const sumLengths = (parts: Parts) => parts.reduce((sum, part) => sum + part.length, 0);
