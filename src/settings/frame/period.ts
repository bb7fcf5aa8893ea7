import type { Request } from 'express';
import { html } from 'hono/html';
import { addDays, type Day } from '../../domain/instant.ts';
import { readDay } from '../request.ts';
import type { Html } from './text.ts';

/** The days that a list is searched in, both included; empty where none was chosen. */
interface Period {
  readonly from: Day | '';
  readonly until: Day | '';
}

export function readPeriod(req: Request): Period {
  return { from: readDay(req, 'from'), until: readDay(req, 'until') };
}

/** Days are of UTC. */
export function toInstants({ from, until }: Period) {
  return {
    from: from === '' ? undefined : `${from}T00:00:00Z`,
    until: until === '' ? undefined : `${addDays(until, 1)}T00:00:00Z`,
  };
}

/** The last fields of a filter's form. `all` is the path of the whole list, when something is left out of it. */
export function renderPeriod({ from, until }: Period, all: string | undefined): Html {
  return html`<div><label for="from">From</label><input id="from" name="from" type="date" value="${from}"></div>
    <div><label for="until">Until</label><input id="until" name="until" type="date" value="${until}"></div>
    <div class="go"><button class="secondary">Show</button>
      ${all === undefined ? '' : html`<a href="${all}">Show all</a>`}</div>`;
}
