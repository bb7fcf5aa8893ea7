/** A service that sends mail for others. */
export interface Service {
  readonly name: string;
  readonly kind: ServiceKind;
}

/** `mailbox`: people write there. `security`: it filters what others send, and sends it on. */
export type ServiceKind =
  | 'transactional'
  | 'marketing'
  | 'mailbox'
  | 'software'
  | 'security'
  | 'forwarder'
  | 'hosting';

/** Services by organisational domain. */
export type Services = ReadonlyMap<string, Service>;

/** Reads lines of `src/judging/services/services.tsv`: a kind, a name, and domains. */
export function parseServices(text: string): Services {
  const services = new Map<string, Service>();
  for (const line of text.trimEnd().split('\n')) {
    const [kind, name = '', domains = ''] = line.split('\t');
    const service = { name, kind: kind as ServiceKind };
    for (const domain of domains.split(' ')) services.set(domain, service);
  }
  return services;
}

/** What the owner of a domain does at a service so that its mail passes. */
export interface ServiceGuide {
  /** What the service calls it. */
  readonly term: string;
  readonly text: string;
  /** The address of the service's own documentation. */
  readonly url: string;
}

/** Guides by a service's name, from lines of `src/judging/services/guides.tsv`: a name, a term, a text and an address. */
export function parseGuides(text: string): ReadonlyMap<string, ServiceGuide> {
  const lines = text.trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const [name = '', term = '', text = '', url = ''] = line.split('\t');
      return [name, { term, text, url }];
    }),
  );
}
