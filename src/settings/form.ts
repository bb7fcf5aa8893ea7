import express, { type Request } from 'express';

/** The largest form contains three passwords. */
export const parseForm = express.urlencoded({ extended: false, limit: '8kb', parameterLimit: 20 });

/** The text of a form's field; empty when it is missing or repeated. */
export function readField(req: Request, name: string): string {
  const value: unknown = req.body?.[name];
  return typeof value === 'string' ? value : '';
}

/** A query parameter; the app's own query parser is off. */
export function readQuery(req: Request, name: string): string {
  const start = req.originalUrl.indexOf('?');
  if (start === -1) return '';
  return new URLSearchParams(req.originalUrl.slice(start)).get(name) ?? '';
}
