import { hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Served } from './served.ts';

export const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** The hashes of what the pictures show, by name. */
export const SHOWN = `${FOLDER}shown.json`;

/** The pictures, and the paths of their pages. */
export const PICTURES = {
  overview: '/settings/overview',
  reference: '/docs/operations/list-reports',
} as const;

/**
 * A hash of what a picture shows: the elements and words of its page, and the rules of its stylesheets that apply to them. It
 * stays the same when ids, tokens, versions, names of files or styles of other pages change.
 */
export async function hashShown({ url, cookie }: Served, path: string): Promise<string> {
  const headers = { cookie: `${cookie.name}=${cookie.value}`, accept: 'text/html' };
  const get = async (path: string) => {
    const answer = await fetch(new URL(path, url + path), { headers });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}.`);
    return await answer.text();
  };
  const page = await get(path);
  const styles = [...page.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)];
  const sheets = await Promise.all(
    styles.map(([, href = '']) => get(new URL(href, url + path).pathname)),
  );
  const body = toLasting(page.slice(page.indexOf('<body')));
  const rules = sheets.flatMap((sheet) => listRules(sheet).filter(appliesTo(body)));
  return hash('sha256', JSON.stringify([body, rules]), 'hex');
}

/** Of a release. An address of a network has four numbers. */
const VERSION = /(?<![\d.])\d+\.\d+\.\d+(?:-dev)?(?!\.?\d)/g;

/** A page without what another one of the same look has: ids, tokens, versions, and hashes in names of files. */
function toLasting(body: string): string {
  return body
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'id')
    .replaceAll(/form_token" value="[^"]+/g, '')
    .replaceAll(/<script.*?<\/script>/gs, '')
    .replaceAll(/\.[\da-f]{12}\./g, '.')
    .replaceAll(VERSION, 'version');
}

/** Each rule: the selector, below those of the rules around it, and the declarations. */
function listRules(sheet: string): string[][] {
  const around: string[] = [];
  const rules: string[][] = [];
  for (const [, text = '', brace] of sheet
    .replaceAll(/\/\*.*?\*\//gs, '')
    .matchAll(/([^{}]*)([{}])/g)) {
    const words = text.trim().replaceAll(/\s+/g, ' ');
    if (brace === '}' && words !== '') rules.push([...around, words]);
    if (brace === '{') around.push(words);
    else around.pop();
  }
  return rules;
}

/** Whether each selector has an alternative whose classes the page has. Paper has a look of its own. */
const appliesTo =
  (body: string) =>
  (rule: readonly string[]): boolean =>
    rule
      .slice(0, -1)
      .every(
        (selector) =>
          selector !== '@media print' &&
          selector
            .split(',')
            .some((one) =>
              [...one.matchAll(/\.([a-z][\w-]*)/gi)].every(([, name = '']) => body.includes(name)),
            ),
      );
