import { html } from 'hono/html';
import { toNetworkTitle } from '../../../domain/sources/groups.ts';
import type { Network } from '../../../domain/sources/network.ts';
import type { Phrase } from '../../../domain/sources/phrase.ts';
import type { Mark, Source } from '../../../domain/sources/source.ts';
import { type Html, renderDomainName, renderText, toSafeText } from '../../frame/text.ts';

/** The longest name of the DNS. */
const MAX_NAME = 253;

/** An IPv6 address has colons, which a path need not allow. */
export function toSourcePath(domainId: string, address?: string): string {
  const list = `/settings/domains/${domainId}/sources`;
  return address === undefined ? list : `${list}/${encodeURIComponent(address)}`;
}

const MARKS = {
  legitimate: ['Legitimate', 'good'],
  unknown: ['Unknown', 'warn'],
} as const satisfies Record<Mark, readonly [string, string]>;

export function renderMarkBadge(mark: Mark | undefined): Html | '' {
  if (mark === undefined) return '';
  const [text, tone] = MARKS[mark];
  return html` <span class="badge ${tone}">${text}</span>`;
}

/** A network can have any name. */
export const MAX_TITLE = 80;

export function listKnown({ name, network }: Pick<Source, 'name' | 'network'>): readonly Html[] {
  const title = network && toNetworkTitle(network);
  const country = network && toCountry(network);
  return [
    ...(name === undefined ? [] : [renderDomainName(name)]),
    ...[title, country]
      .filter((text) => text !== undefined)
      .map((text) => renderText(text, MAX_TITLE)),
  ];
}

/** The code itself when it has no English name. */
function toCountry({ country }: Network): string | undefined {
  if (country === null) return undefined;
  countries ??= new Intl.DisplayNames('en', { type: 'region' });
  return countries.of(country) ?? country;
}

let countries: Intl.DisplayNames | undefined;

export function renderPhrase(phrase: Phrase): readonly (Html | string)[] {
  return phrase.map((part) => (typeof part === 'string' ? part : renderName(part.name)));
}

export function renderName(name: string): Html {
  return html`<code><bdi>${toSafeText(name, MAX_NAME)}</bdi></code>`;
}
