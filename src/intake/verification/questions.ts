/** Rejects with a `code`, as Node's resolver does. */
export type AskDns = (name: string, type: string) => Promise<unknown[]>;

/** SPF may ask ten questions, each of which may ask for ten names (RFC 7208, 4.6.4). Real records need a few. */
const MAX_QUESTIONS = 30;
const DEADLINE_MS = 3_000;

/** The server was not reached, or could not say. All other codes are answers, or the fault of the name. */
const UNANSWERED = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED', 'EREFUSED', 'ECANCELLED']);

/** The questions of one mail: bounded in number, and in time all together. */
export function createQuestions(ask: AskDns, deadlineMs: number = DEADLINE_MS) {
  const endAt = performance.now() + deadlineMs;
  let [count, isUnanswered] = [0, false];
  return {
    /** Whether the result may be another one when DNS answers. */
    isUnanswered: () => isUnanswered,
    resolve: async (name: string, type: string): Promise<string[]> => {
      count += 1;
      if (count > MAX_QUESTIONS) throw toError('ETOOMANY');
      try {
        return (await inTime(ask(name, type), endAt)) as string[];
      } catch (error) {
        isUnanswered ||= UNANSWERED.has((error as NodeJS.ErrnoException).code ?? '');
        throw error;
      }
    },
  };
}

async function inTime<T>(answer: Promise<T>, endAt: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const leftMs = Math.max(0, endAt - performance.now());
  const timer = setTimeout(() => reject(toError('ETIMEOUT')), leftMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    // The answer may come later: who keeps it has it for the next mail.
    answer.catch(() => undefined);
  }
}

const toError = (code: string): Error => Object.assign(new Error(code), { code });
