/** The network of an address, from an offline database. `null` means that the database does not say. */
export interface Network {
  readonly asn: number | null;
  readonly organisation: string | null;
  /** Two letters, ISO 3166-1. */
  readonly country: string | null;
}

/** The networks of addresses. */
export interface Networks {
  readonly find: (address: string) => Network | undefined;
  /** Another one when the data are others. */
  readonly findVersion: () => string;
  /** Plumbline's own data, whose licence wants its sources named where they are shown. */
  readonly isShipped: boolean;
}

const ORGANISATIONS = ['autonomous_system_organization', 'as_name', 'organization', 'isp', 'name'];

/** Reads a record of an MMDB file: GeoLite2, DB-IP and IPinfo name the fields differently. undefined without any. */
export function toNetwork(record: unknown): Network | undefined {
  if (!isFields(record)) return undefined;
  const traits = isFields(record['traits']) ? record['traits'] : {};
  const all = { ...traits, ...record };
  const network = {
    asn: toNumber(all['autonomous_system_number'] ?? all['asn']),
    organisation: findText(all, ORGANISATIONS),
    country: findCountry(record),
  };
  return Object.values(network).every((value) => value === null) ? undefined : network;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `64500` or `AS64500`. */
function toNumber(value: unknown): number | null {
  const digits = /^(?:AS)?(\d{1,10})$/i.exec(String(value))?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Longer names are cut. */
const MAX_CHARACTERS = 200;

function findText(fields: Fields, names: readonly string[]): string | null {
  const texts = names.map((name) => fields[name]);
  const text = texts.find((one) => typeof one === 'string' && one.trim() !== '');
  return typeof text === 'string' ? text.trim().slice(0, MAX_CHARACTERS) : null;
}

/** `country.iso_code`, or `country_code`, or `country` with the code itself. */
function findCountry({ country, country_code: code }: Fields): string | null {
  const given = isFields(country) ? country['iso_code'] : (code ?? country);
  return typeof given === 'string' && /^[A-Z]{2}$/i.test(given) ? given.toUpperCase() : null;
}
