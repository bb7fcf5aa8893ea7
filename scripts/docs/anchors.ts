/**
 * The anchor of a parameter, header or field on the page of its operation: `limit`, `Plumbline-Cursor`, and for a
 * field the names from the top of the answer, joined by dots: `data.figures.pass_rate`. A list adds no name. What
 * has the name of a parameter of the same operation is after `answer.`, so that no anchor is there twice.
 */
export function toAnchor(path: readonly string[], taken: ReadonlySet<string> = new Set()): string {
  const anchor = path.join('.');
  return taken.has(anchor) ? `answer.${anchor}` : anchor;
}

/** The page of an operation under `/docs/`: `listDomains` is at `operations/list-domains`. */
export function toOperationPath(operationId: string): string {
  return `operations/${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
