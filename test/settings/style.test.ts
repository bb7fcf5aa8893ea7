import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url).pathname;
const PALETTE = 'palette.css';
const SHEETS = ['src/settings/frame/assets/style', 'scripts/docs/assets'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.css'))
    .map((name) => ({ name: join(folder, name), text: read(join(folder, name)) })),
);
const COLOUR = /#[\da-f]{3,8}\b|\b(rgb|hsl|oklch|light-dark)\(/i;

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
}

test.each(SHEETS.filter(({ name }) => !name.endsWith(PALETTE)))(
  '$name names no colour: those of the settings pages and of the docs are in one file',
  ({ text }) => {
    expect(COLOUR.exec(text)?.[0]).toBeUndefined();
  },
);

test('every variable that a style uses is defined', () => {
  const all = SHEETS.map(({ text }) => text).join('\n');
  const defined = new Set([...all.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
  const used = new Set([...all.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name));
  expect([...used].filter((name) => !name?.startsWith('--pico-') && !defined.has(name))).toEqual(
    [],
  );
});

test('every colour of the palette is used', () => {
  const palette = SHEETS.find(({ name }) => name.endsWith(PALETTE))?.text ?? '';
  const all = SHEETS.map(({ text }) => text).join('\n');
  const names = [...palette.matchAll(/(--[\w-]+):/g)].map(([, name]) => name);
  expect(names.filter((name) => !all.includes(`var(${name})`))).toEqual([]);
});

/** Of two colours, 1 to 21 (WCAG 2.2, relative luminance). */
function contrast(one: string, other: string): number {
  const [bright = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((i) => {
    const part = Number.parseInt(colour.slice(i, i + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test.each(['light', 'dark'])('what passed and what failed differ in brightness: %s', (scheme) => {
  const palette = SHEETS.find(({ name }) => name.endsWith(PALETTE))?.text ?? '';
  const colour = (name: string) =>
    new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(palette)?.[
      scheme === 'light' ? 1 : 2
    ] ?? '';
  const [passed, failed, sheet] = [colour('passed'), colour('failed'), colour('sheet')];
  expect(contrast(passed, failed)).toBeGreaterThan(3);
  expect(contrast(passed, sheet)).toBeGreaterThan(3);
  expect(contrast(failed, sheet)).toBeGreaterThan(3);
});
