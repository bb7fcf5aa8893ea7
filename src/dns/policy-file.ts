import { Agent, request } from 'undici';
import type { StsPolicyFinding } from '../domain/dns/sts-policy.ts';
import { createGuardedLookUp, type LookUpAddresses } from '../domain/guarded-look-up.ts';
import { createJudge } from '../domain/webhooks/address.ts';

/** The time for connecting and answering together. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

export interface FetchDeps {
  readonly lookUp: LookUpAddresses;
  readonly timeoutMs?: number;
  /** Tests alone have them: networks that are not public, a port besides 443, an issuer of certificates. */
  readonly allowed?: readonly string[];
  readonly port?: number;
  readonly ca?: string;
}

/** Without a text when there is no file, which a finding says. */
export type PolicyFile = { readonly text?: string; readonly findings: readonly StsPolicyFinding[] };

/**
 * Asks a domain's host for its policy file (RFC 8461, 3.3), at public addresses and port 443 alone. No redirect is followed.
 * Never rejects.
 */
export async function fetchPolicyFile(domain: string, deps: FetchDeps): Promise<PolicyFile> {
  const { timeoutMs = TIMEOUT_MS, allowed = [], port, ca } = deps;
  const url = new URL(`https://mta-sts.${domain}/.well-known/mta-sts.txt`);
  if (port !== undefined) url.port = String(port);
  const lookup = createGuardedLookUp(url, createJudge(allowed), deps.lookUp);
  const agent = new Agent({ connect: { lookup, ...(ca !== undefined && { ca }) } });
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = { 'user-agent': 'Plumbline' };
  const file = await request(url, { dispatcher: agent, signal, headers })
    .then(toFile)
    .catch(toFailed);
  await agent.destroy();
  return file;
}

async function toFile({
  statusCode,
  headers,
  body,
}: Awaited<ReturnType<typeof request>>): Promise<PolicyFile> {
  if (statusCode >= 300 && statusCode < 400) return toFinding('redirect');
  if (statusCode !== 200) return toFinding('status');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) return toFinding('too_large');
  }
  const isText = /^text\/plain\s*(;|$)/i.test(String(headers['content-type'] ?? ''));
  return { text: Buffer.concat(chunks).toString('utf8'), findings: isText ? [] : ['not_text'] };
}

const toFinding = (finding: StsPolicyFinding): PolicyFile => ({ findings: [finding] });

/** The codes of OpenSSL have CERT in them, but for one. */
const OF_CERTIFICATE = /CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

function toFailed(error: NodeJS.ErrnoException): PolicyFile {
  return toFinding(OF_CERTIFICATE.test(error.code ?? '') ? 'bad_certificate' : 'unreachable');
}
