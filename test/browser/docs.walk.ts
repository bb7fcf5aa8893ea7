import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { MENU, PAGES } from '../../scripts/docs/pages.ts';
import { runServer } from '../support/running-server.ts';
import * as chromium from './chromium.ts';
import { expectToFit, findLayoutShifts, openWindow, shoot } from './chromium.ts';

/** The layout of 768 pixels is that of 320, so axe looks at the pages of both others. */
const SAME_LAYOUT = 768;
const LOOKS = [320, SAME_LAYOUT, 1280].map((width) => ({ width, place: '/docs' }));
/** All pages except the one that Redoc makes. */
const OWN_PAGES = PAGES.filter(({ slug }) => slug !== 'reference');

/**
 * Violations in Redoc's own markup that we cannot change: an `h4` under an `h2`, a menu called “Example”
 * whose button shows the name of the selected one, and its menu, which is in no landmark.
 */
const REDOCS_OWN = ['heading-order', 'label-content-name-mismatch', 'region'];
/** Redoc tries whether it may compile code, and works without. The policy refuses it. */
const REDOCS_EVAL = 'refused by the policy: script-src eval ';

const findBarriers: typeof chromium.findBarriers = async (page, except) =>
  page.viewportSize()?.width === SAME_LAYOUT ? [] : await chromium.findBarriers(page, except);

/** A window on the docs that can reach our own server only, whatever a page requests. */
async function openDocs(look: (typeof LOOKS)[number] & { javaScriptEnabled?: boolean }) {
  const { server } = await runServer();
  const { page, wrong } = await openWindow(server.url, look);
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(message.text());
  });
  await page.route('**', async (route) => {
    const isOurs = route.request().url().startsWith(server.url);
    await (isOurs ? route.continue() : route.abort());
  });
  return { page, wrong, url: server.url };
}

describe.each(LOOKS)('at $width pixels', (look) => {
  const name = (slug: string) => `docs-${slug}-${look.width}`;

  test('every page of ours has no accessibility violation, nothing too wide, and no request to another origin', async () => {
    const { page, wrong } = await openDocs(look);
    for (const { slug, title } of OWN_PAGES) {
      await page.goto(`/docs/${slug === 'index' ? '' : slug}`);
      expect(await findLayoutShifts(page), slug).toEqual([]);
      await openMenu(page);
      expect(await page.getByRole('link', { name: title, exact: true }).count(), slug).toBe(1);
      expect(await findBarriers(page), slug).toEqual([]);
      await expectToFit(page);
      expect(wrong, slug).toEqual([]);
      await shoot(page, name(slug));
    }
  });

  test('the mark stays where it is when the words after it come in later', async () => {
    const { page } = await openDocs(look);
    await page.goto('/docs/');
    const [whole, alone] = (await page.evaluate(`(() => {
      const brand = document.querySelector('.brand');
      const toTop = () => brand.querySelector('svg').getBoundingClientRect().top;
      const whole = toTop();
      for (const node of [...brand.childNodes]) if (node.nodeName !== 'svg') node.remove();
      return [whole, toTop()];
    })()`)) as [number, number];
    expect(alone).toBe(whole);
  });

  test('the reference shows every operation, has one search, and makes no request to another origin', async () => {
    const { page, wrong } = await openDocs(look);
    await page.goto('/docs/reference');
    await page.getByRole('heading', { name: 'Plumbline external API' }).waitFor();
    await expectToFit(page);
    await shoot(page, name('reference'));
    const operations = [
      ['/domains/listdomains', 'List domains'],
      ['/reports/listreports', "List a domain's reports"],
      ['/alerts/listalerts', 'List alerts'],
    ] as const;
    for (const [place, heading] of operations) {
      await page.goto(`/docs/reference#${place}`);
      await page.getByRole('heading', { name: heading }).waitFor();
      await page.getByText('RateLimit-Policy').first().waitFor();
      await expectToFit(page);
      expect(await findBarriers(page, REDOCS_OWN), place).toEqual([]);
    }
    await shoot(page, name('reference-alerts'));
    expect(await page.getByRole('searchbox').count()).toBe(1);
    expect(await page.getByTestId('search-trigger').isVisible()).toBe(false);
    const own = page.getByRole('link', { name: 'This operation on a page of its own' });
    expect(await own.last().getAttribute('href')).toMatch(/^\/docs\/operations\/[a-z-]+$/);
    expect(wrong.filter((what) => what !== REDOCS_EVAL)).toEqual([]);
  });
});

/** The menu is closed where there is no room. */
async function openMenu(page: Page): Promise<void> {
  const menu = page.locator('body > nav summary');
  if (await menu.isVisible()) await menu.click();
}

test('without JavaScript every guide and the text of the reference can be read', async () => {
  const look = { width: 390, place: '/docs' } as const;
  const { page } = await openDocs({ ...look, javaScriptEnabled: false });
  await page.goto('/docs/');
  expect(await page.getByRole('searchbox').count()).toBe(0);
  await openMenu(page);
  await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click();
  await page.waitForURL('**/docs/keys');
  const python = page.getByText('from zlib import crc32');
  expect(await python.isVisible()).toBe(false);
  await page.getByText('Python', { exact: true }).click();
  expect(await python.isVisible()).toBe(true);
  await page.getByRole('link', { name: 'Next: Generated clients' }).click();
  await page.getByRole('heading', { name: 'Generated clients', level: 1 }).waitFor();
  await page.goto('/docs/reference');
  await page.getByRole('heading', { name: 'Plumbline external API' }).waitFor();
  await page.getByRole('link', { name: 'limits', exact: true }).click();
  await page.waitForURL('**/docs/limits');
});

describe.each(LOOKS)('the search at $width pixels', (look) => {
  test('finds guides and fields by keyboard alone', async () => {
    const { page, wrong } = await openDocs(look);
    await page.goto('/docs/limits');
    const field = page.getByRole('searchbox', { name: 'Search the docs' });
    await page.keyboard.press('/');
    await expectFocus(page, field);
    await page.keyboard.type('cursor_expired');
    await page
      .getByRole('status')
      .filter({ hasText: /^\d+ results?$/ })
      .waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await expectToFit(page);
    await shoot(page, `docs-search-${look.width}`, { fullPage: false });

    const results = page.locator('search a');
    await page.keyboard.press('ArrowDown');
    await expectFocus(page, results.first());
    await page.keyboard.press('ArrowDown');
    await expectFocus(page, results.nth(1));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await expectFocus(page, field);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    await expectFocus(page, field);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/errors#cursor_expired');
    expect(wrong).toEqual([]);
  });

  test('empties the field at the second Escape, and says when nothing is found', async () => {
    const { page } = await openDocs(look);
    await page.goto('/docs/limits');
    const field = page.getByRole('searchbox');
    await field.fill('xyzzyplugh');
    await page.getByText('No results', { exact: true }).waitFor();
    expect(await page.locator('search a').count()).toBe(0);
    expect(await findBarriers(page)).toEqual([]);
    await field.press('Escape');
    expect(await field.inputValue()).toBe('');
    expect(await page.getByText('No results', { exact: true }).count()).toBe(0);
    await field.fill('record_count');
    const result = page.locator('search a').first();
    await result.waitFor();
    expect(await result.getAttribute('href')).toMatch(
      /operations\/list-reports#data\.record_count$/,
    );
    await page.locator('main').click({ position: { x: 5, y: 5 } });
    await result.waitFor({ state: 'hidden' });
  });
});

test('the reference and a page that does not exist have the search, too', async () => {
  const { page, wrong } = await openDocs({ width: 1280, place: '/docs' });
  for (const path of ['reference', 'nothing/here', 'operations/list-alerts']) {
    await page.goto(`/docs/${path}`);
    await page.getByRole('searchbox', { name: 'Search the docs' }).fill('retention_days');
    await page.locator('search a').first().waitFor();
  }
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/operations/get-key#data.retention_days');
  const isKnown = (what: string) => what === REDOCS_EVAL || / 404 /.test(what);
  expect(wrong.filter((what) => !isKnown(what))).toEqual([]);
});

test('a slash in a field is a character', async () => {
  const { page } = await openDocs({ width: 1280, place: '/docs' });
  await page.goto('/docs/');
  const field = page.getByRole('searchbox');
  await field.focus();
  await page.keyboard.type('a/b');
  expect(await field.inputValue()).toBe('a/b');
});

test('the search is loaded when somebody goes to its field, and again after a failure', async () => {
  const { page } = await openDocs({ width: 1280, place: '/docs' });
  let [asked, isDown] = [0, true];
  await page.route('**/search.*.json', async (route) => {
    asked += 1;
    await (isDown ? route.abort() : route.continue());
  });
  await page.goto('/docs/');
  await page.getByRole('searchbox').waitFor();
  expect(asked).toBe(0);
  await page.getByRole('searchbox').fill('cursor');
  await page.getByText('The search is not available.').waitFor();
  // The field asks when it is gone to and when words come: once for both, unless the first has failed by then.
  const failed = asked;
  isDown = false;
  await page.keyboard.type('s');
  await page.locator('search a').first().waitFor();
  expect(asked).toBe(failed + 1);
});

async function expectFocus(page: Page, wanted: Locator): Promise<void> {
  await wanted.and(page.locator(':focus')).waitFor();
}

const WIDTHS = [360, 600, 895, 897, 1024, 1280, 1700];

test('the menu has the same place on every page at every width, and the mark on the reference too', async () => {
  const { page } = await openDocs({ width: 1280, place: '/docs' });
  const places = new Map<string, Set<string>>();
  for (const slug of ['', 'errors', 'reference']) {
    await page.goto(`/docs/${slug}`);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const found = {
        mark: await findPlaces(page, '.brand'),
        menu: await findPlaces(page, MENU_LINKS),
      };
      expect(found.menu).toHaveLength(MENU.length);
      if (slug === 'reference') found.menu = [];
      for (const [what, boxes] of Object.entries(found).filter(([, boxes]) => boxes.length > 0))
        places.set(
          `${what} at ${width}`,
          (places.get(`${what} at ${width}`) ?? new Set()).add(boxes.join()),
        );
    }
  }
  for (const [place, seen] of places) expect([...seen], place).toHaveLength(1);
});

const MENU_LINKS = 'body > nav a';

/** The place and size of each element. */
async function findPlaces(page: Page, selector: string): Promise<string[]> {
  const boxes = await page.evaluate(`[...document.querySelectorAll('${selector}')].map((link) => {
    const { left, top, width, height } = link.getBoundingClientRect();
    return [left, top + scrollY, width, height].map(Math.round).join(' ');
  })`);
  return boxes as string[];
}

test('no copy button covers a line', async () => {
  const { page } = await openDocs({ width: 1280, place: '/docs' });
  for (const place of ['keys', 'getting-started', 'reference#/domains/listdomains']) {
    await page.goto(`/docs/${place}`);
    await page.getByRole('button', { name: 'Copy' }).first().waitFor();
    for (const width of [390, 1024, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      // Redoc lays its page out again after a change of the width.
      const message = `${place} at ${width}`;
      await expect.poll(() => findCovered(page), { message }).toEqual([]);
    }
  }
  // A button over the whole window covers some.
  const place = 'position: fixed !important; inset: 0 !important; width: 100vw !important;';
  await page.addStyleTag({ content: `button { ${place} height: 100vh !important; }` });
  await page.locator('pre').first().scrollIntoViewIfNeeded();
  await expect.poll(() => findCovered(page)).not.toEqual([]);
});

/** The texts of samples that lie under a button. */
async function findCovered(page: Page): Promise<string[]> {
  const covered = await page.evaluate(`(() => {
    const isOver = (a, b) =>
      a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const buttons = [...document.querySelectorAll('button')]
      .filter((button) => (button.ariaLabel ?? button.textContent).trim() === 'Copy')
      .map((button) => button.getBoundingClientRect())
      .filter(({ width }) => width > 0);
    const texts = [];
    for (const sample of document.querySelectorAll('pre')) {
      const walker = document.createTreeWalker(sample, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        for (const rect of range.getClientRects())
          if (buttons.some((button) => isOver(rect, button))) texts.push(walker.currentNode.data);
      }
    }
    return buttons.length === 0 ? ['no button'] : texts;
  })()`);
  return covered as string[];
}

test('a sample is copied unchanged', async () => {
  const { page, wrong } = await openDocs({ width: 1280, place: '/docs' });
  await page.goto('/docs/keys');
  const sample = page.locator('figure.program', { hasText: 'echo "key' });
  await sample.getByText('echo').first().hover();
  await sample.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^echo "key = .+\ngrep /);
  expect(wrong).toEqual([]);
});

test('samples use the address that the page was served from', async () => {
  const { page, url } = await openDocs({ width: 1280, place: '/docs' });
  for (const slug of ['getting-started', 'limits', 'versioning']) {
    await page.goto(`/docs/${slug}`);
    const samples = (await page.locator('figure.code').allTextContents()).join('\n');
    expect(samples).toContain(url);
    expect(samples).not.toContain('http://127.0.0.1:8080');
  }
});

test('errors are detected: another origin, an inline script, a page that moves', async () => {
  const { page, wrong } = await openDocs({ width: 1280, place: '/docs' });
  await page.goto('/docs/');
  await page.evaluate(`document.body.append(
    Object.assign(document.createElement('img'), { src: 'https://elsewhere.example/a.png' }),
    Object.assign(document.createElement('script'), { textContent: 'true' }))`);
  await expect.poll(() => wrong.length).toBeGreaterThan(1);
  expect(wrong.join()).toMatch(/Content Security Policy/);
  await page.evaluate(
    `document.querySelector('main').prepend(Object.assign(document.createElement('h1'), { textContent: 'late' }))`,
  );
  expect(await findLayoutShifts(page)).toEqual([expect.stringMatching(/^0\.\d+ 1280 .+ → /)]);
});

test('text that is unreadable in dark colours alone is detected', async () => {
  const { page } = await openWindow('about:blank', { width: 1280 });
  await page.setContent(`<!doctype html><html lang="en"><title>A page</title>
    <style>p { color: #000 } @media (prefers-color-scheme: dark) { body { background: #111 } }</style>
    <main><h1>A page</h1><p>Text</p></main>`);
  const [found] = await findBarriers(page);
  expect(found?.split('\n')[0]).toBe('in dark colours: color-contrast');
  await page.setViewportSize({ width: 390, height: 900 });
  expect(await findBarriers(page)).toEqual([]);
});

describe.each([320, SAME_LAYOUT, 1280])('at %i pixels', (width) => {
  test.each(['list-changes', 'list-alerts', 'on-report-removed'])(
    'the page of an operation has no accessibility violation and nothing too wide: %s',
    async (name) => {
      const { page, wrong } = await openDocs({ width, place: '/docs' });
      await page.goto(`/docs/operations/${name}`);
      const folded = page.locator('main details:not([open]) > summary:visible');
      while ((await folded.count()) > 0) await folded.first().click();
      expect(await findBarriers(page)).toEqual([]);
      await expectToFit(page);
      expect(wrong).toEqual([]);
      await shoot(page, `docs-operation-${name}-${width}`);
    },
  );
});
