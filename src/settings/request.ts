import express, { type Request } from 'express';
import { Failure } from '../domain/failure.ts';
import { type Day, isDay } from '../domain/instant.ts';
import { toOwnAddress } from '../domain/own-address.ts';
import type { Sort } from '../domain/sort.ts';
import { isUuid } from '../domain/uuid.ts';
import type { SettingsDeps } from './deps.ts';

/** The largest form contains three passwords. */
export const parseForm = express.urlencoded({ extended: false, limit: '8kb', parameterLimit: 20 });

/** Empty when the field is missing or repeated. */
export function readField(req: Request, name: string): string {
  const value: unknown = req.body?.[name];
  return typeof value === 'string' ? value : '';
}

/** Empty when it is missing. The app's own query parser is off. */
export function readQuery(req: Request, name: string): string {
  const start = req.originalUrl.indexOf('?');
  if (start === -1) return '';
  return new URLSearchParams(req.originalUrl.slice(start)).get(name) ?? '';
}

const MAX_SEARCH = 100;

/** What a list is searched for; empty for everything. */
export function readSearch(req: Request): string {
  return readQuery(req, 'q').trim().slice(0, MAX_SEARCH).toWellFormed();
}

/** undefined when it is missing or too long. */
export function readWholeNumber(req: Request, name: string): number | undefined {
  const text = readQuery(req, name);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function readPageNumber(req: Request): number {
  const text = readQuery(req, 'page');
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1;
}

export function readDay(req: Request, name: string): Day | '' {
  const text = readQuery(req, name);
  return isDay(text) && text < '9999' ? text : '';
}

/** `?sort=messages&order=asc`; undefined when the list is in its own order. */
export function readSort<Column extends string>(
  req: Request,
  columns: readonly Column[],
): Sort<Column> | undefined {
  const column = columns.find((known) => known === readQuery(req, 'sort'));
  const order = readQuery(req, 'order') === 'asc' ? 'asc' : 'desc';
  return column && { column, order };
}

export function toSortParameters(sort: Sort<string> | undefined) {
  return sort === undefined ? {} : { sort: sort.column, order: sort.order };
}

/** What is chosen of a list, as its URL has it: nothing of what is empty. */
export function toChosen(all: Readonly<Record<string, string | undefined>>) {
  const chosen = Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]);
  return Object.fromEntries(chosen);
}

/** An id in the path. Throws `not_found` when the text cannot be one. */
export function idOf(req: Request, name = 'id'): string {
  const id = String(req.params[name]);
  if (!isUuid(id)) throw new Failure('not_found', 'There is no such page.');
  return id.toLowerCase();
}

/** The address that the app has determined (client-address.ts); empty when the connection is closed. */
export function addressOf(req: Request): string {
  return req.ip ?? '';
}

/** The URL has no slash at its end. */
export function baseUrlOf({ baseUrl }: SettingsDeps, req: Request): string {
  return toOwnAddress(req, baseUrl);
}
