import type { Request, Response } from 'express';
import { html } from 'hono/html';
import { toSafeText } from '../../domain/text.ts';
import { readCookie, setCookie } from '../cookies.ts';
import type { Html } from '../frame/text.ts';
import { readField } from '../request.ts';

/*
 * A form that is sent after its session has ended is refused. What was typed in it is kept by the browser, in a cookie,
 * while the person signs in by any way, and given back on the page that they come to.
 */

/** Names of fields that people type in, and of those that they choose. No password, code or link is among them. */
const TYPED = ['name', 'email', 'url'] as const;
const GIVEN_BACK = [...TYPED, 'role', 'expires', 'last_day'] as const;
/** The longest e-mail address. */
const MAX_VALUE = 254;
/** Browsers refuse cookies of more than 4,096 bytes. */
const MAX_COOKIE = 3_500;

type Typed = Readonly<Record<string, string>>;

const NOTHING = Buffer.from('{}').toString('base64url');

/** A form in which nothing was typed is kept as well: the person has to know that nothing was done. */
export function keepLostForm(res: Response): void {
  const typed = GIVEN_BACK.map(
    (name) => [name, readField(res.req, name).slice(0, MAX_VALUE)] as const,
  );
  const json = JSON.stringify(Object.fromEntries(typed.filter(([, value]) => value !== '')));
  const cookie = Buffer.from(json).toString('base64url');
  setCookie(res, 'lost', cookie.length <= MAX_COOKIE ? cookie : NOTHING);
}

export function hasLostForm(req: Request): boolean {
  return readCookie(req, 'lost') !== undefined;
}

/** The first page after signing in takes it. */
export function takeLostForm(res: Response): void {
  const cookie = readCookie(res.req, 'lost');
  if (cookie === undefined) return;
  setCookie(res, 'lost', '');
  res.locals['lost'] = parseTyped(cookie);
}

function parseTyped(cookie: string): Typed {
  try {
    const typed = JSON.parse(Buffer.from(cookie, 'base64url').toString()) as Typed;
    const known = GIVEN_BACK.filter((name) => typeof typed[name] === 'string');
    return Object.fromEntries(known.map((name) => [name, typed[name] as string]));
  } catch {
    return {};
  }
}

/** A script puts the text into the fields of the page's form again (settings.js). */
export function renderLostForm(res: Response): Html | '' {
  const typed = res.locals['lost'] as Typed | undefined;
  if (typed === undefined) return '';
  const texts = TYPED.flatMap((name) => typed[name] ?? []).map(
    (text) => `“${toSafeText(text, MAX_VALUE)}”`,
  );
  const had = texts.length === 0 ? '' : ` You had entered ${texts.join(', ')}.`;
  return html`<p data-typed="${JSON.stringify(typed)}">Your session had ended, so nothing was done.${had} Please send the form again.</p>`;
}
