import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { remember } from '../remember.ts';
import { addSafely } from '../safe-sum.ts';
import {
  type EvidenceContext,
  type Facts,
  type SeenMail,
  type Sighting,
  toFacts,
} from './evidence.ts';
import { type Phrase, phrase } from './phrase.ts';
import { isRecordProblem } from './record-problem.ts';
import type { NamedService } from './service-name.ts';
import type { Mark } from './source.ts';

/*
 * Whose mail a source sends. A mark decides over rules. A rule takes for a forger only who authenticates as somebody
 * else, or whom an SPF record forbids to send: what merely fails may be a forgotten server of the owner.
 */

export type Verdict = 'yours' | 'service' | 'forwarder' | 'forger' | 'unclear';

export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: Phrase;
}

export interface JudgedMail {
  readonly results: readonly Sighting[];
  readonly mark: Mark | null;
  readonly service: NamedService | undefined;
  /** Its name in DNS, which leads back to the address. */
  readonly name: string | undefined;
}

/** What messages with the same results look like. */
type Look = 'own' | 'forwarded' | 'excepted' | 'foreign' | 'refused' | 'silent';

/** Fewer messages of strangers say nothing. More of them with the same results say nothing else. */
export const MIN_MESSAGES = 10;

/** Judges sources of a domain. How messages with the same results look is found once. */
export function createJudge(asked: EvidenceContext): (mail: JudgedMail) => Judgement {
  const lookOf = remember((seen: SeenMail) => toLook(toFacts(seen, asked)));
  return (mail) => {
    const looks = { own: 0, forwarded: 0, excepted: 0, foreign: 0, refused: 0, silent: 0 };
    for (const { seen, messages } of mail.results) {
      const look = lookOf(seen);
      looks[look] = addSafely(looks[look], messages);
    }
    return judgeByMark(mail, looks) ?? judgeByRules(mail, looks, asked);
  };
}

/** Messages by their look. */
type Looks = Readonly<Record<Look, number>>;

function toLook(facts: Facts): Look {
  const { isDkimAligned, spf, foreignSpf, foreignSignature, brokenSignature: broken } = facts;
  if (spf.isAligned || isOwnButUncounted(facts)) return 'own';
  if (isDkimAligned) return isCarried(facts) ? 'forwarded' : 'own';
  if (broken !== undefined && foreignSpf !== undefined) return 'forwarded';
  if (facts.isForwarded) return 'excepted';
  if (broken !== undefined) return 'silent';
  if (foreignSpf !== undefined || foreignSignature !== undefined) return 'foreign';
  return spf.result === 'fail' ? 'refused' : 'silent';
}

/** The signature of the domain came through, and SPF of the domain does not allow who brought it. */
function isCarried({ spfDomain, spf: { result } }: Facts): boolean {
  return spfDomain !== undefined && result !== 'pass' && !isRecordProblem(result);
}

/** Something of the domain itself passes. That a signature is there and fails shows nothing: anybody can add one. */
function isOwnButUncounted({ uncounted, ownSpf, ownSignature }: Facts): boolean {
  return [uncounted, ownSpf, ownSignature].some((one) => one !== undefined);
}

function judgeByMark({ mark, service }: JudgedMail, looks: Looks): Judgement | undefined {
  if (mark === 'unknown') return { verdict: 'forger', reason: ['You marked it as unknown.'] };
  if (mark !== 'legitimate') return undefined;
  const isAligned = looks.excepted + looks.foreign + looks.refused + looks.silent === 0;
  return isAligned || service === undefined
    ? { verdict: 'yours', reason: ['You marked it as legitimate.'] }
    : { verdict: 'service', reason: ['You marked it as legitimate, and messages of it fail.'] };
}

function judgeByRules(
  { service, name, results }: JudgedMail,
  looks: Looks,
  { domain, toOrganizationalDomain }: EvidenceContext,
): Judgement {
  if (service?.kind === 'forwarder' && looks.own + looks.forwarded > 0)
    return { verdict: 'forwarder', reason: phrase`${service.name} forwards mail.` };
  if (looks.forwarded > looks.own)
    return {
      verdict: 'forwarder',
      reason: phrase`Its messages have a signature of ${domain} and came by way of somebody else.`,
    };
  if (looks.excepted > looks.own + looks.foreign + looks.refused + looks.silent)
    return { verdict: 'forwarder', reason: ['Receivers say that its messages were forwarded.'] };
  if (looks.own > 0)
    return { verdict: 'yours', reason: phrase`Messages of it pass for ${domain}.` };
  if (isNameOf(name, domain, toOrganizationalDomain))
    return { verdict: 'yours', reason: phrase`Its name in DNS is ${name ?? ''}.` };
  return judgeStranger(service, looks, results);
}

function isNameOf(
  name: string | undefined,
  domain: string,
  toOrganizationalDomain: ToOrganizationalDomain,
): boolean {
  return name !== undefined && toOrganizationalDomain(name) === toOrganizationalDomain(domain);
}

/** Nothing of the domain itself is in its messages. */
function judgeStranger(
  service: NamedService | undefined,
  looks: Looks,
  results: readonly Sighting[],
): Judgement {
  if (service !== undefined && service.by !== 'dns' && looks.foreign > 0)
    return {
      verdict: 'service',
      reason: phrase`Its messages are authenticated as ${service.domain}, which is ${service.name}.`,
    };
  const all = results.reduce((sum, { messages }) => addSafely(sum, messages), 0);
  if (all < MIN_MESSAGES) return { verdict: 'unclear', reason: ['It sent too few messages.'] };
  if (looks.foreign > looks.silent)
    return {
      verdict: 'forger',
      reason: ['Its messages are authenticated as somebody else, who is no known service.'],
    };
  if (looks.refused > looks.silent)
    return {
      verdict: 'forger',
      reason: ['No message passes, and the SPF record says that it is not allowed.'],
    };
  return {
    verdict: 'unclear',
    reason: [
      'Nothing authenticates its messages: somebody forges them, or a system was forgotten.',
    ],
  };
}
