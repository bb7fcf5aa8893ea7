import { toKeyName } from '../dns/dns-record.ts';
import type { ReasonCode, Verdict } from '../senders/sender.ts';
import type { Facts, Signature } from './evidence.ts';
import { type Phrase, phrase } from './phrase.ts';
import {
  findKeyFault,
  isRecordProblem,
  tellKeyProblem,
  tellSelector,
  tellSpfProblem,
} from './record-problem.ts';
import type { AdviceContext, Rule } from './rule.ts';

/** What to do about messages that fail DMARC. The first rule that applies counts. */
export const FAILING_RULES: readonly Rule[] = [
  {
    title: 'The receiver did not count a pass',
    applies: ({ uncounted }) => uncounted !== undefined,
    tell: ({ uncounted = '', from }) => [
      `${uncounted} passes for `,
      ...phrase`${from} itself, but the receiver did not count it: that is its own decision or its mistake. See who reported it before you change anything.`,
    ],
  },
  {
    title: 'Alignment was strict',
    applies: ({ ownSpf, ownSignature }) => ownSpf !== undefined || ownSignature !== undefined,
    tell: tellStrict,
  },
  {
    title: 'The key in DNS is at fault',
    applies: ({ brokenSignature }, asked) => findKeyFault(brokenSignature, asked) !== undefined,
    tell: tellFault,
  },
  {
    title: 'DNS did not answer a receiver',
    applies: ({ brokenSignature: broken }) => broken?.result === 'temperror',
    tell: ({ brokenSignature: broken }, { verified }) => [
      ...phrase`Messages are signed as ${broken?.domain ?? ''}`,
      ...tellSelector(broken),
      ', but a receiver got no answer for the key (temperror): ',
      ...(broken && verified?.has(toKeyName(broken))
        ? ['other messages verify with it, so there is nothing to do.']
        : tellServers(broken)),
    ],
  },
  {
    title: 'The signing key cannot be read',
    applies: ({ brokenSignature: broken }) => isRecordProblem(broken?.result),
    tell: ({ brokenSignature: broken, from }, asked) =>
      asked.verdict === 'not_recognised'
        ? tellClaimed(from, broken)
        : [
            ...phrase`Messages are signed as ${broken?.domain ?? ''}`,
            ...tellSelector(broken),
            ', but ',
            ...tellKeyProblem(broken),
          ],
  },
  {
    title: 'The signature does not verify',
    applies: ({ brokenSignature }) => brokenSignature !== undefined,
    tell: tellBroken,
  },
  {
    title: 'The SPF record cannot be read',
    applies: ({ spfDomain, spf: { result } }) => spfDomain !== undefined && isRecordProblem(result),
    tell: tellSpfProblem,
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
    tell: ({ foreignSignature, from }, { mark }) => [
      ...phrase`DKIM passes for ${foreignSignature?.domain ?? ''}`,
      ...tellSelector(foreignSignature),
      ...phrase`, which is not aligned with ${from}: have the service sign as ${from} with a key of its own.`,
      ...(mark === 'legitimate' ? [] : [' If you do not know this service, ask who uses it.']),
    ],
  },
  {
    title: 'SPF does not list this address',
    applies: ({ spfDomain, spf: { result } }) =>
      spfDomain !== undefined && ['fail', 'softfail', 'neutral'].includes(result ?? ''),
    tell: (facts, asked) => [
      ...phrase`The SPF record of ${facts.spfDomain ?? ''} does not list this address (${facts.spf.result ?? ''}), and `,
      `${facts.dkim.length === 0 ? 'nothing is signed by DKIM' : 'no DKIM signature passes'}. `,
      ...tellUnknown(facts, asked),
    ],
  },
  {
    title: 'Nothing authenticates',
    applies: () => true,
    tell: (facts, asked) => [
      ...phrase`Neither SPF nor DKIM passes for any domain. `,
      ...tellUnknown(facts, asked),
    ],
  },
];

/** What to do about messages that fail and are not the owner's to mend, whatever their results. */
export const STRANGER_RULES: Readonly<Partial<Record<Verdict, Rule>>> = {
  forged: {
    title: 'Somebody else sends as the domain',
    applies: () => true,
    tell: ({ from }) =>
      phrase`Somebody forges ${from}. A policy of quarantine or reject keeps such messages from readers: the page of the domain says how far you are. There is nothing else to do.`,
  },
  passed_on: {
    title: 'Mail that is passed on',
    applies: () => true,
    tell: ({ from }) =>
      phrase`Somebody received these messages of ${from} and sent them on, and they were changed on the way, as mailing lists do. There is nothing to do.`,
  },
};

/** What to do about messages that fail of a sender that is judged for a reason of its own, whatever their results. */
export const REASON_RULES: Readonly<Partial<Record<ReasonCode, Rule>>> = {
  private_address: {
    title: 'The address is private',
    applies: () => true,
    tell: ({ from }) =>
      phrase`The address is of a machine in your network, or of a relay at the receiver, and SPF cannot list it. If it is yours, sign its messages with DKIM as ${from}. If not, its receiver has to look at the address that the messages came from: there is nothing that you can do, and you can mark it as unknown.`,
  },
  signed_as_sister: {
    title: 'Another domain of yours',
    applies: () => true,
    tell: ({ from, foreignSpf, foreignSignature }) =>
      phrase`The messages name ${from}, and are authenticated as ${foreignSignature?.domain ?? foreignSpf ?? 'another domain of yours'}: sign them with DKIM as ${from} where they are sent.`,
  },
};

/** Strict alignment wants the very same domain; relaxed alignment wants the same organisation. */
function tellRemedies(from: string, { modes, mark }: AdviceContext): Phrase {
  const isKnown = mark === 'legitimate';
  const place =
    modes.spf === 's'
      ? phrase`use ${from} itself as bounce domain there, because alignment of SPF is strict (aspf=s)`
      : phrase`set a custom bounce domain there`;
  return [
    ...(isKnown ? [] : ['if you use this service, ']),
    ...place,
    ...phrase`, or sign with DKIM as ${from}.`,
    ...(isKnown ? [] : [' If you do not know it, ask who uses it.']),
  ];
}

/** Relaxed alignment that is published already need not be published. */
function tellStrict({ ownSpf, ownSignature, from }: Facts, { modes }: AdviceContext): Phrase {
  const name = ownSignature?.domain ?? ownSpf ?? '';
  const isSpf = ownSignature === undefined;
  const isStill = (isSpf ? modes.spf : modes.dkim) === 's';
  return [
    `${isSpf ? 'SPF' : 'DKIM'} passes for `,
    ...phrase`${name}, which is of the same organisation as ${from} but not the same domain, and alignment was strict when that was reported`,
    ...(isStill
      ? phrase`: use ${from} itself there, or publish ${isSpf ? 'aspf=r' : 'adkim=r'} in the DMARC record.`
      : phrase`. If newer messages fail, too, use ${from} itself there.`),
  ];
}

/** A key that nobody published may be one that a stranger made up. */
function tellFault({ brokenSignature: broken }: Facts, asked: AdviceContext): Phrase {
  return [
    ...phrase`Messages are signed as ${broken?.domain ?? ''}`,
    ...tellSelector(broken),
    `, and no receiver can verify that: ${findKeyFault(broken, asked) ?? ''}`,
    ...(asked.verdict === 'not_recognised'
      ? [
          ' If you do not know this sender, somebody claims to sign as you, and there is nothing to publish.',
        ]
      : []),
  ];
}

function tellBroken({ brokenSignature: broken, from }: Facts, { verdict }: AdviceContext): Phrase {
  if (verdict === 'not_recognised') return tellClaimed(from, broken);
  return [
    ...phrase`Messages are signed as ${broken?.domain ?? ''}`,
    ...tellSelector(broken),
    ...phrase`, but the signature does not verify (${broken?.result ?? 'no result'}): `,
    'the key in DNS is probably not the one that signs. Compare them where this sender is set up; if they are the same, find out what changes its messages after they are signed.',
  ];
}

function tellServers(broken: Signature | undefined): Phrase {
  return phrase`check that the name servers answer for ${toKeyName(broken ?? { domain: '', selector: '' })}.`;
}

/** Anybody can write or copy a signature: the owner's key may be right. */
function tellClaimed(from: string, broken: Signature | undefined): Phrase {
  return [
    ...phrase`Messages are signed as ${broken?.domain ?? ''}`,
    ...tellSelector(broken),
    ...phrase`, but the signature does not verify (${broken?.result ?? 'no result'}), and anybody can write or copy one: do you know this sender? If it is yours, it changes what was signed, or has no key of yours: have it sign as ${from} itself. If not, somebody passes these messages on and changes them, or forges them.`,
  ];
}

function tellUnknown({ from, spfDomain }: Facts, { modes, mark, verdict }: AdviceContext): Phrase {
  // The SPF record of the domain of MAIL FROM helps when it can be aligned.
  const domain = modes.spf === 'r' || spfDomain === from ? spfDomain : undefined;
  const remedy = [
    ...(domain === undefined ? [] : phrase`add the address to the SPF record of ${domain}, and `),
    ...phrase`sign its messages with DKIM as ${from}.`,
  ];
  if (mark === 'legitimate') return ['You marked it as legitimate: ', ...remedy];
  if (verdict !== 'not_recognised') return ['It is a sender of yours: ', ...remedy];
  return [
    'Do you know this sender? If it is a forgotten system of yours, ',
    ...remedy,
    ' If not, a policy of quarantine or reject keeps these messages from readers.',
  ];
}
