import { toKeyName } from '../dns/dns-record.ts';
import { addSafely } from '../safe-sum.ts';
import { type Evidence, type Facts, toFacts } from './evidence.ts';
import { FAILING_RULES, REASON_RULES, STRANGER_RULES } from './failing-rules.ts';
import { PASSING_RULES } from './passing-rules.ts';
import type { Phrase } from './phrase.ts';
import type { AdviceContext, Rule } from './rule.ts';

export interface Advice {
  /** `act`: messages fail. `improve`: they pass, and SPF or DKIM can be mended. `good`, and `leave` of messages that fail: nothing to do. */
  readonly tone: 'act' | 'improve' | 'good' | 'leave';
  readonly title: string;
  readonly text: Phrase;
  readonly messages: number;
}

/** How many pieces of advice are shown: those about most messages. */
const MAX_ADVICE = 6;

/** Advice on failing messages first, then on more messages. Messages with the same advice are counted together. */
export function advise(evidence: readonly Evidence[], context: AdviceContext): readonly Advice[] {
  const all = new Map<string, Advice>();
  const signatures = evidence.flatMap(({ dkim }) => dkim);
  const valid = signatures.filter(({ result }) => result === 'pass');
  const asked = { ...context, verified: new Set(valid.map(toKeyName)) };
  for (const one of evidence) {
    if (one.messages === 0) continue;
    const advice = adviseOn(toFacts(one, asked), asked);
    const key = JSON.stringify(advice.text);
    const messages = addSafely(all.get(key)?.messages ?? 0, one.messages);
    all.set(key, { ...advice, messages });
  }
  return [...all.values()].sort(byUrgency).slice(0, MAX_ADVICE);
}

function adviseOn(facts: Facts, asked: AdviceContext): Omit<Advice, 'messages'> {
  const passes = facts.isDkimAligned || facts.spf.isAligned;
  const stranger = passes ? undefined : STRANGER_RULES[asked.verdict];
  const special = passes || !asked.reason ? undefined : REASON_RULES[asked.reason];
  const rules = passes ? PASSING_RULES : FAILING_RULES;
  // The last rule of each list applies to everything.
  const rule = stranger ?? special ?? (rules.find(({ applies }) => applies(facts, asked)) as Rule);
  const failing = stranger === undefined ? 'act' : 'leave';
  const passing = facts.isDkimAligned ? (rule.tone ?? 'good') : 'improve';
  const tone = passes ? passing : failing;
  return { tone, title: rule.title, text: rule.tell(facts, asked) };
}

const TONES: readonly Advice['tone'][] = ['act', 'leave', 'improve', 'good'];

function byUrgency(a: Advice, b: Advice): number {
  return TONES.indexOf(a.tone) - TONES.indexOf(b.tone) || b.messages - a.messages;
}
