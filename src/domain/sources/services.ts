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

/** By organisational domain. */
export type Services = ReadonlyMap<string, Service>;

/** From lines of `src/settings/services/services.tsv`: a kind, a name, and domains. */
export function parseServices(text: string): Services {
  const services = new Map<string, Service>();
  for (const line of text.trimEnd().split('\n')) {
    const [kind, name = '', domains = ''] = line.split('\t');
    const service = { name, kind: kind as ServiceKind };
    for (const domain of domains.split(' ')) services.set(domain, service);
  }
  return services;
}
