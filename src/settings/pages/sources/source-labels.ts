import { html } from 'hono/html';
import { toNetworkTitle } from '../../../domain/sources/groups.ts';
import type { Network } from '../../../domain/sources/network.ts';
import type { Phrase } from '../../../domain/sources/phrase.ts';
import type { Mark } from '../../../domain/sources/source.ts';
import { MAX_TITLE, toSafeText } from '../../../domain/text.ts';
import type { SettingsDeps } from '../../deps.ts';
import { type Html, renderDomainName, renderText } from '../../frame/text.ts';

/** The longest name of the DNS. */
const MAX_NAME = 253;

/** An IPv6 address has colons, which a path need not allow. */
export function toSourcePath(domainId: string, address?: string): string {
  const list = `/settings/domains/${domainId}/sources`;
  return address === undefined ? list : `${list}/${encodeURIComponent(address)}`;
}

const MARKS = {
  legitimate: ['Legitimate', 'good'],
  unknown: ['Unknown', 'theirs'],
} as const satisfies Record<Mark, readonly [string, string]>;

export function renderMarkBadge(mark: Mark | undefined): Html | '' {
  if (mark === undefined) return '';
  const [text, tone] = MARKS[mark];
  return html` <span class="badge ${tone}">${text}</span>`;
}

interface Known {
  readonly name: string | undefined;
  readonly network: Network | undefined;
  /** The name of the service that sends, where it is told. */
  readonly service?: string | undefined;
}

export function listKnown(source: Known): readonly Html[] {
  const { service, name, network } = source;
  const toText = (text: string | undefined) => text && renderText(text, MAX_TITLE);
  const title = toText(network && toNetworkTitle(network));
  const country = toText(network && toCountry(network));
  const known = [toText(service), name && renderDomainName(name), title, country];
  return known.filter((text) => !!text) as Html[];
}

/** Who made Plumbline's own data of networks, as their licence wants it. */
export function renderNetworkCredit({ networks }: Pick<SettingsDeps, 'networks'>): Html | '' {
  if (!networks?.isShipped) return '';
  return html`<p class="muted"><small>Networks of addresses by <a href="https://www.routeviews.org/">RouteViews</a>, <a href="https://www.nro.net/">NRO</a> and <a href="https://db-ip.com/">DB-IP</a>, changed (<a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>).</small></p>`;
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
