import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { launchChromium } from '../../scripts/chromium.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { PASSWORD } from '../support/visitor.ts';

const SHOTS = fileURLToPath(new URL('../../screenshots/', import.meta.url));
const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const axeScript = readFileSync(axeFile, 'utf8');

export const WIDTHS = [360, 1440] as const;
const HEIGHT = 900;
const WIDE = 600;

export const browser = await launchChromium();

export interface Look extends Pick<BrowserContextOptions, 'javaScriptEnabled'> {
  readonly width: number;
  /** The path of the pages, by default `/settings`. A request to any other path is an error. */
  readonly place?: string;
}

/**
 * A window on a service, with its errors so far: of scripts, in the console, and requests to other origins.
 */
export async function openWindow(url: string, { width, place = '/settings', ...options }: Look) {
  const context = await browser.newContext({
    ...options,
    baseURL: url,
    viewport: { width, height: HEIGHT },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    // The browser says so of each page whose status is 400 or more.
    const isStatus = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isStatus) wrong.push(message.text());
  });
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    console.error('refused by the policy: ' + [violatedDirective, blockedURI, sample].join(' ')))`);
  await page.addInitScript(`addEventListener('DOMContentLoaded', () =>
    requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.parsedMs = performance.now(); })))`);
  page.on('request', (request) => {
    if (!request.url().startsWith(url + place)) wrong.push(request.url());
  });
  return { page, wrong };
}

/**
 * Saves screenshots of the whole page, or of the visible part, in both colours, in `screenshots/`, for people to look
 * at. SCREENSHOTS=no saves none.
 */
export async function shoot(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  if (process.env['SCREENSHOTS'] === 'no') return;
  mkdirSync(SHOTS, { recursive: true });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    // Colours change in a fifth of a second; a picture taken before shows neither scheme. Some animations have no end.
    await page.evaluate(`Promise.race([
      Promise.allSettled(document.getAnimations().map(({ finished }) => finished)),
      new Promise((resolve) => setTimeout(resolve, 1_000)),
    ])`);
    const path = `${SHOTS}${name}-${colorScheme}.png`;
    // Hiding the caret would add a style attribute, which the policy forbids.
    await page.screenshot({ path, fullPage, caret: 'initial' });
  }
}

/**
 * Violations found by axe-core, each with its element; rules in `except` are not checked. Wide windows are checked in dark
 * colours, narrow ones in light: contrast depends on the colours alone, which are the same at all widths, and no other rule depends on them.
 */
export async function findBarriers(page: Page, except: readonly string[] = []): Promise<string[]> {
  const isWide = (page.viewportSize()?.width ?? 0) >= WIDE;
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeScript);
  const rules = Object.fromEntries(except.map((rule) => [rule, { enabled: false }]));
  await page.emulateMedia({ colorScheme: isWide ? 'dark' : 'light' });
  const found = await runAxe(page, { rules });
  await page.emulateMedia({ colorScheme: 'light' });
  return isWide ? found.map((violation) => `in dark colours: ${violation}`) : found;
}

/** Transitions between colours are ended first. */
async function runAxe(page: Page, options: object): Promise<string[]> {
  const asked = JSON.stringify({ resultTypes: ['violations'], ...options });
  const found = await page.evaluate(
    `document.getAnimations().forEach((animation) => animation.finish());
    axe.run(document, ${asked}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join('\\n'))))`,
  );
  return found as string[];
}

/**
 * Layout shifts since the page was parsed (Cumulative Layout Shift): size, element, and its two positions. A browser that paints
 * half a document, because the processor was busy, moves what it painted; where it stopped is chance.
 */
export async function findLayoutShifts(page: Page): Promise<string[]> {
  const shifts = await page.evaluate(`new Promise((resolve) => {
    const shifts = [];
    const tell = ({ node, previousRect: from, currentRect: to }) =>
      (node?.nodeName ?? 'gone') + ' ' + JSON.stringify(from) + ' → ' + JSON.stringify(to);
    new PerformanceObserver((list) => {
      for (const { value, sources, hadRecentInput, startTime } of list.getEntries())
        if (!hadRecentInput && startTime >= globalThis.parsedMs) shifts.push([value, innerWidth, innerHeight, ...sources.map(tell)].join(' '));
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(shifts), 200);
  })`);
  return shifts as string[];
}

/** Checks that nothing is wider than the window. */
export async function expectToFit(page: Page): Promise<void> {
  const [wide, width] = (await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )) as [number, number];
  expect(wide).toBeLessThanOrEqual(width);
}

/** htmx activates new content a moment later. A test could click before that. */
export async function toSettle(page: Page): Promise<void> {
  await page.locator('.htmx-swapping, .htmx-settling').first().waitFor({ state: 'detached' });
}

/** As a person whose password is that of the tests; to the overview. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.goto('/settings/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}
