/**
 * `npm run pictures`: takes the README's pictures of the demo in Chromium, light and dark, and writes down what they show, so
 * that a test without a browser finds pictures of what is not shown any more.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { BrowserContext } from 'playwright-core';
import { launchChromium } from '../chromium.ts';
import { type Served, serveDemo } from './served.ts';
import { FOLDER, hashShown, PICTURES, SHOWN } from './shown.ts';

/** README shows them beside each other, at less than half of this width. */
const LOOK = { viewport: { width: 1160, height: 920 } };
const QUALITY = 58;
const MAX_BYTES = 300_000;

const served = await serveDemo();
const browser = await launchChromium();
try {
  await takeAll(served);
} finally {
  await browser.close();
  await served.close();
}

async function takeAll(served: Served): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const shown: Record<string, string> = {};
  let bytes = 0;
  for (const [name, path] of Object.entries(PICTURES)) {
    shown[name] = await hashShown(served, path);
    for (const colorScheme of ['light', 'dark'] as const) {
      const picture = await take(served, { path, colorScheme });
      writeFileSync(`${FOLDER}${name}-${colorScheme}.webp`, picture);
      bytes += picture.length;
    }
  }
  if (bytes > MAX_BYTES) throw new Error(`The pictures have ${bytes} bytes, not ${MAX_BYTES}.`);
  writeFileSync(SHOWN, `${JSON.stringify(shown, null, 2)}\n`);
  process.stdout.write(`The pictures are in ${FOLDER}: ${bytes} bytes.\n`);
}

async function take(
  { url, cookie }: Served,
  { path, colorScheme }: { readonly path: string; readonly colorScheme: 'light' | 'dark' },
): Promise<Buffer> {
  const context = await browser.newContext({ ...LOOK, colorScheme, reducedMotion: 'reduce' });
  try {
    await context.addCookies([{ ...cookie, url }]);
    return await shoot(context, url + path);
  } finally {
    await context.close();
  }
}

/** Chromium writes WebP, which Playwright does not offer. */
async function shoot(context: BrowserContext, url: string): Promise<Buffer> {
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'networkidle' });
  const session = await context.newCDPSession(page);
  const options = { format: 'webp', quality: QUALITY } as const;
  const { data } = await session.send('Page.captureScreenshot', options);
  return Buffer.from(data, 'base64');
}
