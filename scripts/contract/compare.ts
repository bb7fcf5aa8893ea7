import { ADDITIONS, CORRECTIONS } from './additions.ts';
import { listNamed } from './changelog.ts';
import { withComparable } from './comparable.ts';
import { type Change, INFO, listChanges } from './oasdiff.ts';
import { listErrorCodes, listUnseen } from './unseen.ts';

/** Messages about the version number. The release checks that itself (check.ts). */
const REMARKS = new Set(['api-major-version-not-bumped', 'api-version-not-bumped']);

interface Compared {
  /** The changes that break clients. */
  readonly breaks: readonly string[];
  /** The additions, as words that the changelog has to contain. */
  readonly names: readonly string[];
}

/** The changes since a released contract. */
export function compare(released: string, current: string): Compared {
  return withComparable([released, current], compareFiles);
}

function compareFiles(released: string, current: string): Compared {
  const changes = listChanges(released, current).filter(({ id }) => !REMARKS.has(id));
  const breaks = changes.filter((change) => toNames(change) === undefined);
  const [before, after] = [listErrorCodes(released), listErrorCodes(current)];
  return {
    breaks: [
      ...breaks.map(({ id, text, operationId }) => [operationId, text, `(${id})`].join(' ').trim()),
      ...listUnseen(released, current).map((where) => `${where} is not the same`),
      ...before
        .difference(after)
        .values()
        .map((code) => `the error code \`${code}\` is gone`),
    ],
    names: [
      ...new Set(changes.flatMap((change) => toNames(change) ?? [])),
      ...after.difference(before),
    ],
  };
}

/** The names that a text does not mention. */
export function listUnnamed(names: readonly string[], text: string): readonly string[] {
  const named = listNamed(text);
  return names.filter((name) => !named.has(name.toLowerCase()));
}

/** The names for a change in the changelog; undefined for a breaking change. */
function toNames(change: Change): readonly string[] | undefined {
  const added = change.level === INFO ? ADDITIONS[change.id]?.(change) : undefined;
  return added ?? CORRECTIONS[change.id]?.(change);
}
