/** The part of the library that has no types: what verifies a mail whose fields and body are given to it. */
declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { DKIMVerifyResult } from 'mailauth';

  export interface Signature {
    readonly type: 'DKIM' | 'ARC';
    readonly signingDomain: string;
    readonly selector: string;
    readonly hashAlgo: string;
    readonly invalid?: string;
    /** A number when the signature is of a part of the body (`l=`). */
    readonly maxBodyLength: number | '';
    readonly parsed: { readonly h?: { readonly value?: unknown } };
    /** Why it is left out. */
    skip?: string;
  }

  class DkimVerifier {
    constructor(options: object);
    readonly headerFrom: readonly string[];
    readonly fromFields: number;
    readonly results: DKIMVerifyResult['results'];
    readonly arc: NonNullable<DKIMVerifyResult['arc']>;
    readonly signatureHeaders: readonly Signature[];
    /** One for each way to hash the body. */
    readonly bodyHashes: ReadonlyMap<string, unknown>;
    messageHeaders(headers: NonNullable<DKIMVerifyResult['headers']>): Promise<void>;
    prepareSignature(signature: Signature): void;
    nextChunk(body: Buffer): Promise<void>;
    finalChunk(): Promise<void>;
  }
  const exported: { readonly DkimVerifier: typeof DkimVerifier };
  export default exported;
}
