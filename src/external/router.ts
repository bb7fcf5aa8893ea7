import { OpenAPIRouter, type Operation, type ParsedRequest, type Request } from 'openapi-backend';

interface Route {
  readonly operation: Operation;
  /** The whole path, its parameters as named groups. */
  readonly pattern: RegExp;
}

/**
 * openapi-backend's router with its patterns made once, and each request matched once. The library flattens
 * all operations, compiles every path and parses query and cookies anew, several times for each request:
 * about as much as all the rest of a request together.
 *
 * Requests come ready to be matched: the path alone, the query as values (query.ts), no headers.
 */
export class PreparedRouter extends OpenAPIRouter {
  readonly #operations = super.getOperations();
  readonly #routes = this.#operations.map(toRoute).toSorted(byGroups);
  readonly #params = new WeakMap<Request, Readonly<Record<string, string>>>();

  override getOperations(): Operation[] {
    return this.#operations;
  }

  override matchOperation(request: Request): Operation {
    const method = request.method.toLowerCase();
    let isPathKnown = false;
    for (const { operation, pattern } of this.#routes) {
      const match = pattern.exec(request.path);
      if (match === null) continue;
      isPathKnown = true;
      if (operation.method !== method) continue;
      this.#params.set(request, toParams(match.groups));
      return operation;
    }
    // openapi-backend tells the two apart by how the message begins.
    throw new Error(isPathKnown ? '405-methodNotAllowed' : '404-notFound');
  }

  override parseRequest(request: Request): ParsedRequest {
    return {
      method: request.method,
      path: request.path,
      params: { ...this.#params.get(request) },
      query: { ...(request.query as object) },
      headers: {},
      cookies: {},
      requestBody: undefined,
    };
  }
}

function toParams(groups: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decode(text)]));
}

function toRoute(operation: Operation): Route {
  const pattern = operation.path
    .split(/[{}]/)
    .map((part, i) => (i % 2 === 1 ? `(?<${part}>[^/]+)` : RegExp.escape(part)))
    .join('');
  return { operation, pattern: new RegExp(`^${pattern}$`) };
}

/** A path without parameters is matched before one whose parameter would take its last part. */
function byGroups(a: Route, b: Route): number {
  return a.operation.path.split('{').length - b.operation.path.split('{').length;
}

/** Text that is no percent-encoding stands for itself; no parameter of the contract allows it. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
