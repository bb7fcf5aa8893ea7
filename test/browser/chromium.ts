import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** Debian's; another one may be named. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const SHOTS = fileURLToPath(new URL('../../screenshots/', import.meta.url));
const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export const WIDTHS = [360, 1440] as const;
const HEIGHT = 900;

/** Chromium in a profile of its own, which asks nobody for anything. */
export const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});

export interface Look extends Pick<BrowserContextOptions, 'colorScheme' | 'javaScriptEnabled'> {
  readonly width: number;
  /** Where the pages lie, `/settings` unless it is said otherwise: what is asked for elsewhere is wrong. */
  readonly place?: string;
}

/** A window on a service, with what went wrong in it so far: errors of scripts, broken policies, strangers. */
export async function openWindow(url: string, { width, place = '/settings', ...options }: Look) {
  const context = await browser.newContext({
    ...options,
    baseURL: url,
    viewport: { width, height: HEIGHT },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) wrong.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url + place)) wrong.push(request.url());
  });
  return { page, wrong };
}

/** Leaves a picture of the whole page, or of what the window shows, in `screenshots/`, for people to look at. */
export async function shoot(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  // Hiding the caret would leave a style attribute behind, which the policy forbids.
  await page.screenshot({ path: `${SHOTS}${name}.png`, fullPage, caret: 'initial' });
}

/** What axe-core finds, each with the element that it is found on; rules in `except` are not asked. */
export async function findBarriers(page: Page, except: readonly string[] = []): Promise<string[]> {
  await page.evaluate(await readFile(axeScript, 'utf8'));
  const found = await page.evaluate(
    `axe.run(document, { rules: ${JSON.stringify(toRules(except))} }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join('\\n'))))`,
  );
  return found as string[];
}

function toRules(except: readonly string[]) {
  return Object.fromEntries(except.map((rule) => [rule, { enabled: false }]));
}

/** What has moved by itself since the page came (Cumulative Layout Shift): how far, what, and from where to where. */
export async function findLayoutShifts(page: Page): Promise<string[]> {
  const shifts = await page.evaluate(`new Promise((resolve) => {
    const shifts = [];
    const tell = ({ node, previousRect: from, currentRect: to }) =>
      (node?.nodeName ?? 'gone') + ' ' + JSON.stringify(from) + ' → ' + JSON.stringify(to);
    new PerformanceObserver((list) => {
      for (const { value, sources, hadRecentInput } of list.getEntries())
        if (!hadRecentInput) shifts.push([value, innerWidth, innerHeight, ...sources.map(tell)].join(' '));
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(shifts), 200);
  })`);
  return shifts as string[];
}

/** Nothing is wider than the window. */
export async function expectToFit(page: Page): Promise<void> {
  const [wide, width] = (await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )) as [number, number];
  expect(wide).toBeLessThanOrEqual(width);
}

/** htmx binds what it has put in a moment later. Nobody clicks in between; a test would. */
export async function toSettle(page: Page): Promise<void> {
  await page.locator('.htmx-swapping, .htmx-settling').first().waitFor({ state: 'detached' });
}
