/** The part about the API of each release, by its heading: `1.0.0 (2026-11-21)`, or `Unreleased`. */
export function listApiParts(changelog: string): ReadonlyMap<string, string> {
  const releases = changelog.split(/^## /m).slice(1);
  return new Map(
    releases.flatMap((release) => {
      const api = release.split(/^### API\n/m)[1]?.split(/^### /m)[0];
      return api === undefined ? [] : [[release.split('\n', 1)[0] ?? '', api]];
    }),
  );
}

/** The part about the API of one release, named by its version or `Unreleased`. */
export function findApiPart(changelog: string, release: string): string | undefined {
  return listApiParts(changelog)
    .entries()
    .find(([heading]) => heading.split(' ', 1)[0] === release)?.[1];
}

/** The contents of a text's code spans, in lower case because header names may be. */
export function listNamed(text: string): ReadonlySet<string> {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return new Set(spans.flatMap((span) => span.toLowerCase().split(/[\s,=?&]+/)));
}

/** What changed in one release, without its heading. */
export function findSection(changelog: string, release: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.split(/\s/, 1)[0] === release);
  return found?.slice(found.indexOf('\n') + 1);
}
