import type { AuthResults } from '../../domain/reports/aggregate-report.ts';
import type { Element } from '../document/element.ts';

const DKIM_RESULTS = new Set('none pass fail policy neutral temperror permerror'.split(' '));
const SPF_RESULTS = new Set([...DKIM_RESULTS, 'softfail']);
/**
 * Results from before the standard, mapped to their present meaning (RFC 7489 appendix C names the last two).
 */
const OLD_RESULTS: Readonly<Record<string, string>> = {
  hardfail: 'fail',
  unknown: 'temperror',
  error: 'permerror',
};

/** `auth_results`: every element is optional, and none decides alignment. */
export function toAuthResults(results: Element): AuthResults {
  return {
    dkim: results.all('dkim').map((dkim) => ({
      domain: dkim.value('domain'),
      selector: dkim.value('selector'),
      result: toResult(dkim, DKIM_RESULTS),
      humanResult: dkim.value('human_result'),
    })),
    spf: results.all('spf').map((spf) => ({
      domain: spf.value('domain'),
      scope: spf.word('scope'),
      result: toResult(spf, SPF_RESULTS),
      humanResult: spf.value('human_result'),
    })),
  };
}

function toResult(element: Element, known: ReadonlySet<string>): string | null {
  const word = element.word('result');
  if (word === null || known.has(word)) return word;
  const meaning = Object.hasOwn(OLD_RESULTS, word) ? OLD_RESULTS[word] : undefined;
  if (meaning === undefined) element.child('result').warn('unknown_auth_result');
  return meaning ?? word;
}
