import { OpenAPIRouter, type Operation, type ParsedRequest, type Request } from 'openapi-backend';

interface Route {
  readonly operation: Operation;
  /** Matches the whole path, with its parameters as named groups. */
  readonly pattern: RegExp;
}

/**
 * A request in the form into which openapi-backend would parse it: the path alone, the query as values
 * (query.ts), no headers. Its path parameters are set when it is matched.
 */
export type MatchableRequest = Request & ParsedRequest;

/**
 * openapi-backend's router with patterns compiled once, and each request parsed and matched once. For each
 * request, the library flattens all operations, compiles every path and parses query and cookies several
 * times, which costs about as much as the rest of the request.
 */
export class PreparedRouter extends OpenAPIRouter {
  readonly #operations = super.getOperations();
  readonly #routes = this.#operations.map(toRoute).toSorted(byGroups);

  override getOperations(): Operation[] {
    return this.#operations;
  }

  override parseRequest(request: Request): ParsedRequest {
    return request as MatchableRequest;
  }

  override matchOperation(request: Request): Operation {
    const method = request.method.toLowerCase();
    let isPathKnown = false;
    for (const { operation, pattern } of this.#routes) {
      const match = pattern.exec(request.path);
      if (match === null) continue;
      isPathKnown = true;
      if (operation.method !== method) continue;
      request.params = decodeAll(match.groups);
      return operation;
    }
    // openapi-backend distinguishes the two errors by the beginning of the message.
    throw new Error(isPathKnown ? '405-methodNotAllowed' : '404-notFound');
  }
}

function decodeAll(groups: Record<string, string> = {}): Record<string, string> {
  for (const name in groups) groups[name] = decode(groups[name] ?? '');
  return groups;
}

function toRoute(operation: Operation): Route {
  const pattern = operation.path
    .split(/[{}]/)
    .map((part, i) => (i % 2 === 1 ? `(?<${part}>[^/]+)` : RegExp.escape(part)))
    .join('');
  return { operation, pattern: new RegExp(`^${pattern}$`) };
}

/** A path without parameters is matched before one whose parameter would match its last part. */
function byGroups(a: Route, b: Route): number {
  return a.operation.path.split('{').length - b.operation.path.split('{').length;
}

/** Text that is not valid percent-encoding stays as it is. No parameter of the contract allows it. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
