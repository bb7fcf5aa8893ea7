import type { Token, Tokens } from 'marked';

/**
 * The languages of samples, with the names that the reader selects. A block in any other language is output.
 */
export const PROGRAMS: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  python: 'Python',
  ts: 'TypeScript',
  go: 'Go',
};

/** Consecutive programs that do the same: the reader selects one. */
export interface Samples extends Tokens.Generic {
  readonly type: 'samples';
  readonly programs: Tokens.Code[];
}

/** The parts of a block's info string: its language, its file name, and the arguments for testing it. */
export function toLanguage({ lang }: Tokens.Code) {
  const [language = '', file, ...args] = (lang ?? '').split(' ');
  return { language, file, args };
}

export function groupSamples(tokens: readonly Token[]): Token[] {
  const grouped: Token[] = [];
  let samples: Samples | undefined;
  for (const token of tokens) {
    if (token.type === 'space' && samples !== undefined) continue;
    if (!isProgram(token)) samples = undefined;
    else if (samples !== undefined) {
      samples.programs.push(token);
      continue;
    } else samples = { type: 'samples', raw: '', programs: [token] };
    grouped.push(samples ?? token);
  }
  return grouped;
}

function isProgram(token: Token): token is Tokens.Code {
  return token.type === 'code' && toLanguage(token as Tokens.Code).language in PROGRAMS;
}
