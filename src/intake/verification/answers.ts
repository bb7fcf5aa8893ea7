/** A question to DNS. */
export interface Question {
  readonly name: string;
  readonly type: string;
}

/** What DNS answered, or the code of its error. */
export interface DnsAnswer {
  readonly records?: readonly unknown[] | undefined;
  readonly code?: string | undefined;
}

/** By `toKey`. */
export type Answers = ReadonlyMap<string, DnsAnswer>;

export const toKey = ({ name, type }: Question): string => `${type} ${name}`;

/** The server was not reached, or could not say. All other codes are answers, or the fault of the name. */
const UNANSWERED = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED', 'EREFUSED', 'ECANCELLED']);

/** Resolves from answers that are there, and collects the questions that have none yet. */
export function createOfflineResolver(answers: Answers) {
  const missing = new Map<string, Question>();
  let isUnanswered = false;
  return {
    listMissing: () => [...missing.values()],
    /** Whether the result may be another one when DNS answers. */
    isUnanswered: () => isUnanswered,
    resolve: async (name: string, type: string): Promise<string[]> => {
      const key = toKey({ name, type });
      const { records, code = 'ETIMEOUT' } = answers.get(key) ?? {};
      if (!answers.has(key)) missing.set(key, { name, type });
      // The library sorts what it gets.
      if (records !== undefined) return [...records] as string[];
      isUnanswered ||= UNANSWERED.has(code);
      throw toError(code);
    },
  };
}

export const toError = (code: string): Error => Object.assign(new Error(code), { code });
