import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { findApiPart } from './changelog.ts';
import { compare, listUnnamed } from './compare.ts';

export interface Contracts {
  /** Paths of the two files. */
  readonly released: string;
  readonly current: string;
  /** The text of CHANGELOG.md. */
  readonly changelog: string;
}

/**
 * Why a contract may not follow the released one: breaking changes, and additions that the changelog does not
 * name.
 */
export function listProblems(
  { released, current, changelog }: Contracts,
  release = 'Unreleased',
): readonly string[] {
  const { breaks, names } = compare(released, current);
  const unnamed = listUnnamed(names, findApiPart(changelog, release) ?? '');
  return [
    ...breaks.map((text) => `breaks the released contract: ${text}`),
    ...unnamed.map((name) => `is new, and not named in CHANGELOG.md, ${release}, API: \`${name}\``),
  ];
}

/** Why a contract may not be released under its version. */
export function listObstacles(contracts: Contracts): readonly string[] {
  const { released, current, changelog } = contracts;
  const version = readVersion(current);
  if (findApiPart(changelog, version) === undefined) {
    return [`CHANGELOG.md has no part "### API" under "## ${version}"`];
  }
  if (!existsSync(released) || isSame(released, current)) return [];
  if (readVersion(released) === version) return [`${version} is released, and was different`];
  return listProblems(contracts, version);
}

export function readVersion(file: string): string {
  return parse(readFileSync(file, 'utf8')).info.version;
}

function isSame(a: string, b: string): boolean {
  return readFileSync(a).equals(readFileSync(b));
}
