import { parseDomainName } from '../domain/domain-name.ts';
import { Failure } from '../domain/failure.ts';
import {
  addDays,
  BEGIN_OF_TIME,
  type Day,
  END_OF_TIME,
  type Instant,
  toDay,
  toInstant,
} from '../domain/instant.ts';
import { parseIpAddress } from '../domain/ip-address.ts';
import { parseNetwork } from '../domain/network-address.ts';

/* Values of filters as the store takes them. The contract has checked their form. */

/** All reports begin after this day; the databases have no year 0. */
const DAY_BEFORE = addDays(toDay(BEGIN_OF_TIME), -1);

export function toDays(from: Day | undefined, until: Day | undefined) {
  const toStored = (day: Day | undefined) => day && (day < DAY_BEFORE ? DAY_BEFORE : day);
  return { from: toStored(from), until: toStored(until) };
}

const LEAP_SECOND = /:60(?:\.\d+)?(?=[^:\d]|$)/;

/**
 * The first whole second at an instant or after it: what happened before the one happened before the other, because all
 * instants that are stored are whole seconds.
 */
export function toWholeSecond(name: string, text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text.toUpperCase().replace(/\s/, 'T').replace(LEAP_SECOND, ':59.999'));
  // To Ajv, an offset may have hours alone.
  if (Number.isNaN(time)) throw toInvalid(name, 'a timestamp like 2026-03-14T00:00:00Z');
  const [first, last] = [Date.parse(BEGIN_OF_TIME), Date.parse(END_OF_TIME)];
  const second = Math.ceil(time / 1_000) * 1_000;
  return toInstant(new Date(Math.min(Math.max(second, first), last)));
}

/** A whole name; or every name below one, `*.example.com`, as it is written. */
export function toDomainName(text: string): string {
  const below = text.startsWith('*.') ? '*.' : '';
  // One label is no name of a domain that is monitored, but others are below it.
  const name = parseDomainName(`${below && 'x.'}${text.slice(below.length)}`);
  if (name === undefined) throw toInvalid('name', 'a domain name, or *. and a domain name');
  return `${below}${below ? name.slice(2) : name}`;
}

/** An address as sources have it, or a network. */
export function toNetworkText(text: string): string {
  const network = parseIpAddress(text) ?? text;
  if (parseNetwork(network) !== undefined) return network;
  throw toInvalid('address', 'an IP address, or a network like 192.0.2.0/24');
}

const toInvalid = (name: string, wanted: string) =>
  new Failure('validation_error', `"${name}" must be ${wanted}, given once.`);
