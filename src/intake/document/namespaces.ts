/** The namespaces of the standards: RFC 7489's, RFC 9990's, and those of its drafts. */
const DMARC = /^(?:https?:\/\/dmarc\.org\/|urn:ietf:params:xml:ns:dmarc)/i;
/** No report declares more prefixes. Any further one stands for no namespace. */
const MAX_PREFIXES = 16;

type Scope = ReadonlyMap<string, string>;
const EMPTY: Scope = new Map();

/** The namespaces of the open elements (Namespaces in XML 1.0). */
export class Namespaces {
  /** That of the root, as found. */
  root: string | null = null;
  /** By prefix, for each open element. */
  readonly #scopes: Scope[] = [];

  /** Returns whether the element is the report's own: in the root's namespace, in none, or in one of DMARC's. */
  open(name: string, attributes: Readonly<Record<string, string>>): boolean {
    const outer = this.#scopes.at(-1);
    const scope = declare(outer ?? EMPTY, attributes);
    this.#scopes.push(scope);
    if (scope.size === 0) return true;
    const namespace = scope.get(name.slice(0, Math.max(0, name.lastIndexOf(':')))) || null;
    if (outer === undefined) this.root = namespace;
    return namespace === null || namespace === this.root || DMARC.test(namespace);
  }

  close(): void {
    this.#scopes.pop();
  }
}

function declare(outer: Scope, attributes: Readonly<Record<string, string>>): Scope {
  let scope: Map<string, string> | undefined;
  for (const name in attributes) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    scope ??= new Map(outer);
    const prefix = name.slice('xmlns:'.length);
    if (scope.size < MAX_PREFIXES || scope.has(prefix))
      scope.set(prefix, attributes[name]?.trim() ?? '');
  }
  return scope ?? outer;
}
