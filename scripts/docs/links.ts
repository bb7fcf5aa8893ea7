/** A served page: its name under `/docs/`, and its HTML. */
interface Linked {
  readonly name: string;
  readonly html: string;
}

/**
 * Every broken link, as `page: link`. `files` are all files of the site. Links to other sites are not
 * checked. The anchors of the reference are made by its script, and are given as `places`.
 */
export function findDeadLinks(
  pages: readonly Linked[],
  files: ReadonlySet<string>,
  places: ReadonlySet<string>,
): string[] {
  const anchors = new Map<string, ReadonlySet<string>>(
    pages.map(({ name, html }) => [name, findAnchors(html)]),
  );
  anchors.set('reference', places);
  return pages.flatMap(({ name, html }) =>
    findLinks(html)
      .filter((link) => !leadsSomewhere(link, name))
      .map((link) => `${name}: ${link}`),
  );

  function leadsSomewhere(link: string, from: string): boolean {
    if (/^https?:/.test(link)) return true;
    const { pathname, hash: fragment } = new URL(link, `https://any/docs/${from}`);
    const name = pathname.replace(/^\/docs\//, '') || 'index';
    const hash = link.includes('#') ? decodeURIComponent(fragment.slice(1)) : undefined;
    if (!anchors.has(name)) return files.has(name) && hash === undefined;
    return hash === undefined || hash === 'main' || anchors.get(name)?.has(hash) === true;
  }
}

function findLinks(html: string): string[] {
  return [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
}

function findAnchors(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
}
