import type { Request } from 'express';

export const HOME = '/settings/overview';

/** It has to fit into the cookie of a single sign-on. */
const MAX_CHARS = 1_500;
const HERE = 'http://here.invalid';

/** The path and query of one of our pages, so that the text of a URL cannot lead to another site; else the overview. */
export function toOwnPage(text: string): string {
  const url = text.length <= MAX_CHARS ? URL.parse(text, HERE) : null;
  return url?.origin === HERE && /^\/settings(?!.*\/\/)\//.test(url.pathname)
    ? `${url.pathname}${url.search}`
    : HOME;
}

export function toPageOfForm({ headers: { referer = '' } }: Request): string {
  const url = URL.parse(referer);
  return url === null ? HOME : toOwnPage(`${url.pathname}${url.search}`);
}
