import { phrase } from './phrase.ts';
import { isRecordProblem, tellKeyProblem, tellSelector, tellSpfProblem } from './record-problem.ts';
import type { Rule } from './rule.ts';

/** What to do about messages that pass DMARC. The first rule that applies counts. */
export const PASSING_RULES: readonly Rule[] = [
  {
    title: 'All passes',
    applies: ({ isDkimAligned, spf }) => isDkimAligned && spf.isAligned,
    tell: ({ from }) =>
      phrase`SPF and DKIM both pass and are aligned with ${from}. There is nothing to do.`,
  },
  {
    title: 'DKIM passes, SPF is of another domain',
    applies: ({ isDkimAligned, foreignSpf }) => isDkimAligned && foreignSpf !== undefined,
    tell: ({ from, foreignSpf = '' }) =>
      phrase`DKIM passes for ${from}, so the messages pass. SPF passes for ${foreignSpf}, which is not aligned: that is usual for services and for forwarders that rewrite the sender. There is nothing to do.`,
  },
  {
    title: 'DKIM passes, the SPF record cannot be read',
    tone: 'improve',
    applies: ({ isDkimAligned, spfDomain, spf: { result } }) =>
      isDkimAligned && spfDomain !== undefined && isRecordProblem(result),
    tell: (facts, asked) => [
      ...phrase`DKIM passes for ${facts.from}, so the messages pass. `,
      ...tellSpfProblem(facts, asked),
    ],
  },
  {
    title: 'Probably forwarded',
    applies: ({ isDkimAligned, spf }) => isDkimAligned && spf.result !== 'pass',
    tell: ({ from, spf: { result } }) =>
      phrase`DKIM passes for ${from} and SPF does not (${result ?? 'no result'}): that is what forwarding looks like, and the signature carries the messages through. If this is a server of yours, add its address to the SPF record.`,
  },
  {
    title: 'DKIM passes',
    applies: ({ isDkimAligned }) => isDkimAligned,
    tell: ({ from }) =>
      phrase`DKIM passes for ${from}, so the messages pass although SPF did not count. There is nothing to do.`,
  },
  {
    title: 'Only SPF passes, the signing key cannot be read',
    applies: ({ brokenSignature: broken }) => isRecordProblem(broken?.result),
    tell: ({ from, brokenSignature: broken }) => [
      ...phrase`SPF passes for ${from}, so the messages pass. They are also signed as ${broken?.domain ?? ''}`,
      ...tellSelector(broken),
      ', but ',
      ...tellKeyProblem(broken),
      ' Forwarded messages fail until then.',
    ],
  },
  {
    title: 'Only SPF passes, the signature does not verify',
    applies: ({ brokenSignature }) => brokenSignature !== undefined,
    tell: ({ from, brokenSignature: broken }) =>
      phrase`SPF passes for ${from}, so the messages pass, but the signature of ${broken?.domain ?? ''} with the selector ${broken?.selector ?? '(not stated)'} does not verify (${broken?.result ?? 'no result'}): compare the key in DNS with the one that signs. Forwarded messages fail until then.`,
  },
  {
    title: 'Only SPF passes, DKIM is of another domain',
    applies: ({ foreignSignature }) => foreignSignature !== undefined,
    tell: ({ from, foreignSignature }) =>
      phrase`SPF passes for ${from}, so the messages pass. DKIM signs as ${foreignSignature?.domain ?? ''}, which is not aligned: sign as ${from} too, so that forwarded messages pass.`,
  },
  {
    title: 'Only SPF passes',
    applies: () => true,
    tell: ({ from }) =>
      phrase`SPF passes for ${from}, so the messages pass, but no signature does: sign with DKIM as ${from}, so that forwarded messages pass.`,
  },
];
