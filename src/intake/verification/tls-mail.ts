import type { MailToCheck } from './header.ts';

/*
 * A TLS report counts when the reporter has signed its mail (RFC 8460, section 3): SPF says nothing of it, the signature is
 * aligned with the report's contact, whatever From is, and its key may be for TLS reports alone.
 */

/** RFC 8460, sections 5.3 and 6.4: what a mail has that brings one. What is in it is not read before its sender is known. */
const FIELD = /^tls-report-(?:domain|submitter)$/;
const TYPE = 'tlsrpt';

export function mayHaveTls({ fields, header, body }: MailToCheck): boolean {
  return (
    fields.some(({ name }) => FIELD.test(name)) || header.includes(TYPE) || body.includes(TYPE)
  );
}

export const findSubmitter = ({ fields }: MailToCheck): string | undefined => {
  const text = fields.find(({ name }) => name === 'tls-report-submitter')?.text;
  return text?.slice(text.indexOf(':') + 1).trim();
};

type Resolver = (name: string, type: string) => Promise<string[]>;

/**
 * Resolves keys. For a mail with a TLS report one that is for TLS reports alone is resolved as if it were for mail, which the
 * library asks for.
 */
export function createKeyResolver(resolve: Resolver, isTls: boolean) {
  const found = new Set<string>();
  if (!isTls) return { resolver: resolve, isTlsOnly: () => false };
  return {
    resolver: async (name: string, type: string): Promise<string[]> => {
      const records = (await resolve(name, type)) as (string | readonly string[])[];
      return records.map((record) => {
        const text = [record].flat().join('');
        const [tag = '', before, services = ''] = SERVICES.exec(text) ?? [];
        if (!IS_TLS.test(services) || IS_MAIL.test(services)) return record;
        found.add(name);
        return [text.replace(tag, `${before}email`)];
      }) as string[];
    },
    isTlsOnly: (name: string) => found.has(name),
  };
}

/** The services that a key is for (RFC 6376, section 3.6.1). */
const SERVICES = /((?:^|;)\s*s\s*=)([^;]*)/;
const IS_TLS = /(?:^|:)\s*tlsrpt\s*(?:$|:)/;
const IS_MAIL = /(?:^|:)\s*(?:\*|email)\s*(?:$|:)/i;
