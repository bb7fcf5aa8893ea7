import type { Token, Tokens } from 'marked';

/** A sample's languages, as the reader's choice calls them. What is in any other is what a sample prints. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  python: 'Python',
};

/** Programs that follow one another at once: they do the same, and the reader chooses one. */
export interface Samples extends Tokens.Generic {
  readonly type: 'samples';
  readonly programs: Tokens.Code[];
}

/** What stands behind a block's fence: its language, the file that the reader keeps it in, the arguments it is tried with. */
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
