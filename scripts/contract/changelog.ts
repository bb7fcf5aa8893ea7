/** The part about the API of a release, `## 1.0.0 (2026-11-21)`, or of `## Unreleased`. */
export function findApiPart(changelog: string, release: string): string | undefined {
  return changelog
    .split(/^## /m)
    .find((part) => part.split(/\s/, 1)[0] === release)
    ?.split(/^### /m)
    .find((part) => part.startsWith('API\n'));
}

/** The words of a text's code spans: what it names. In lower case, as header names may be. */
export function listNamed(text: string): ReadonlySet<string> {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return new Set(spans.flatMap((span) => span.toLowerCase().split(/[\s,=?&]+/)));
}
