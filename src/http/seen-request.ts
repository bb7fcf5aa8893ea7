import type { ApiRequest } from '../external/request.ts';
import type { SeenRequest } from '../metrics/metrics.ts';

/** The first part of a path outside the API; any other path is `other`, because clients can invent paths. */
const AREAS = ['docs', 'settings', 'healthz', 'readyz'];

/** A request as metrics count it. `url` is the target that came in: Express changes the request's. */
export function toSeenRequest(
  req: ApiRequest,
  { url, status, ms }: { readonly url: string; readonly status: number; readonly ms: number },
): SeenRequest {
  const operation = req.operation ?? toArea(url);
  return {
    operation,
    status,
    seconds: ms / 1000,
    limit: status === 429 ? toLimit(req) : undefined,
  };
}

function toArea(url: string): string {
  if (url.startsWith('/v1/')) return 'invalid';
  const [, first = ''] = /^\/([a-z]+)(?=[/?]|$)/.exec(url) ?? [];
  return AREAS.includes(first) ? first : 'other';
}

/** The limit by key is applied once that by address has let the request through. */
function toLimit({ ipLimit, keyLimit }: ApiRequest): string {
  return keyLimit?.name ?? ipLimit?.name ?? 'settings';
}
