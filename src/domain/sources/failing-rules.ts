import type { Asked, Rule } from './advice.ts';
import type { Facts, Signature } from './evidence.ts';
import { type Phrase, phrase } from './phrase.ts';

/** Results that say that the key was not found or could not be read (RFC 8601, 2.7.1). */
const KEY_PROBLEMS = new Set(['permerror', 'temperror']);

/** What to do about messages that fail DMARC. The first rule that applies counts. */
export const FAILING_RULES: readonly Rule[] = [
  {
    title: 'Alignment is strict',
    applies: ({ ownSpf, ownSignature }) => ownSpf !== undefined || ownSignature !== undefined,
    tell: tellStrict,
  },
  {
    title: 'The signing key cannot be read',
    applies: ({ brokenSignature: broken }) => KEY_PROBLEMS.has(broken?.result ?? ''),
    tell: tellKeyProblem,
  },
  {
    title: 'The signature does not verify',
    applies: ({ brokenSignature }) => brokenSignature !== undefined,
    tell: tellBroken,
  },
  {
    title: 'A service that signs and sends as itself',
    applies: ({ foreignSpf, foreignSignature }) =>
      foreignSpf !== undefined && foreignSignature !== undefined,
    tell: ({ foreignSpf = '', foreignSignature, from }, asked) => [
      ...phrase`SPF passes for ${foreignSpf} and DKIM for ${foreignSignature?.domain ?? ''}, neither of which is aligned with ${from}: `,
      ...tellRemedies(from, asked),
    ],
  },
  {
    title: 'SPF passes for another domain',
    applies: ({ foreignSpf }) => foreignSpf !== undefined,
    tell: ({ foreignSpf = '', from }, asked) => [
      ...phrase`SPF passes for ${foreignSpf}, which is not aligned with ${from}: `,
      ...tellRemedies(from, asked),
    ],
  },
  {
    title: 'DKIM passes for another domain',
    applies: ({ foreignSignature }) => foreignSignature !== undefined,
    tell: ({ foreignSignature, from }) => [
      ...phrase`DKIM passes for ${foreignSignature?.domain ?? ''}`,
      ...tellSelector(foreignSignature),
      ...phrase`, which is not aligned with ${from}: have the service sign as ${from} with a key of its own. If you do not know this service, it sends without your permission.`,
    ],
  },
  {
    title: 'SPF does not allow this address',
    applies: ({ spf: { domain, result }, from }) =>
      domain === from && ['fail', 'softfail', 'neutral'].includes(result ?? ''),
    tell: ({ from, spf: { result } }, asked) => [
      ...phrase`The SPF record of ${from} does not allow this address (${result ?? ''}), and nothing is signed by DKIM. `,
      ...tellUnknown(from, asked),
    ],
  },
  {
    title: 'Nothing authenticates',
    applies: () => true,
    tell: ({ from }, asked) => [
      ...phrase`Neither SPF nor DKIM passes for any domain. `,
      ...tellUnknown(from, asked),
    ],
  },
];

/** Strict alignment wants the very same domain; relaxed alignment wants the same organisation. */
function tellRemedies(from: string, { modes }: Asked): Phrase {
  const place =
    modes.spf === 's'
      ? phrase`use ${from} itself as bounce domain there, because alignment of SPF is strict (aspf=s)`
      : phrase`set a custom bounce domain there`;
  return [...place, ...phrase`, or sign with DKIM as ${from}.`];
}

function tellStrict({ ownSpf, ownSignature, from }: Facts): Phrase {
  const name = ownSignature?.domain ?? ownSpf ?? '';
  const [what, tag] = ownSignature === undefined ? ['SPF', 'aspf'] : ['DKIM', 'adkim'];
  return [
    `${what} passes for `,
    { name },
    ...phrase`, which is of the same organisation as ${from} but not the same domain, and alignment was strict: use ${from} itself there, or publish `,
    { name: `${tag}=r` },
    ' in the DMARC record.',
  ];
}

function tellKeyProblem({ brokenSignature: broken }: Facts): Phrase {
  const { domain, selector } = broken ?? { domain: null, selector: null };
  const record = selector ? `${selector}._domainkey.${domain ?? ''}` : '';
  return [
    ...phrase`Messages are signed as ${domain ?? ''}`,
    ...tellSelector(broken),
    ...phrase`, but receivers could not read the key (${broken?.result ?? ''}): `,
    ...(record === ''
      ? phrase`check the DKIM record in DNS.`
      : phrase`check the TXT record ${record}.`),
  ];
}

/** SPF of another domain shows who sent the message on. */
function tellBroken({ brokenSignature: broken, foreignSpf }: Facts): Phrase {
  const cause =
    foreignSpf === undefined
      ? phrase`either the messages are forwarded and changed on the way, as mailing lists do, or the key in DNS is not the one that signs. If this is a server of yours, compare the key.`
      : phrase`SPF passes for ${foreignSpf}, so the messages are probably forwarded there and changed on the way, as mailing lists do. If ${foreignSpf} sends for you, compare the key in DNS with the one that signs.`;
  return [
    ...phrase`Messages are signed as ${broken?.domain ?? ''}`,
    ...tellSelector(broken),
    ...phrase`, but the signature does not verify (${broken?.result ?? 'no result'}): `,
    ...cause,
  ];
}

function tellUnknown(from: string, { mark }: Asked): Phrase {
  if (mark === 'legitimate')
    return phrase`You marked it as legitimate: add the address to the SPF record of ${from}, and sign its messages with DKIM as ${from}.`;
  if (mark === 'unknown')
    return phrase`You marked it as unknown: a policy of quarantine or reject keeps its messages from readers.`;
  return phrase`Either somebody forges ${from}, and a policy of quarantine or reject keeps these messages from readers, or this is a forgotten system of yours: then add it to the SPF record and sign with DKIM as ${from}.`;
}

function tellSelector(signature: Signature | undefined): Phrase {
  const selector = signature?.selector;
  return selector ? phrase` (selector ${selector})` : [];
}
