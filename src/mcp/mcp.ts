import type { ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { Failure } from '../domain/failure.ts';
import type { Agents } from '../external/api.ts';
import type { ApiRequest } from '../external/request.ts';
import { sendAnswer } from '../external/send.ts';
import { type Admitted, readResult, toTextContent } from './results.ts';
import { toTool } from './tools.ts';

const MAX_BYTES = 64 * 1024;
const ONLY_POST = { error: { code: 'method_not_allowed', message: 'Only POST is answered.' } };
const OPTIONS = {
  capabilities: { tools: {} },
  instructions:
    'Read-only DMARC monitoring data of one account. Begin with list_overview: each domain with its figures, its readiness for a stronger policy, and its next step. get_domain has the same of one domain, list_sources who sends in its name. The first text of a result is the answer of the API as JSON. The second, where there is one, has what is not in it: "left", how many items follow; "next", the arguments of the call that has them; and "cursor", which descriptions name Plumbline-Cursor. A page ends at 40 kB, whatever the limit. Fields and codes are described at /docs/operations of this server.',
};

interface McpDeps {
  readonly version: string;
  /** The address that pages of this server have; without one, that which the request names. */
  readonly baseUrl: string | undefined;
}

/**
 * The Model Context Protocol without sessions: a request has a server of its own, which ends with the answer. The answer is JSON,
 * because there is no stream to open, and nothing to delete.
 */
export function createMcp({ operations }: Agents, { version, baseUrl }: McpDeps) {
  const about = { name: 'plumbline', title: 'Plumbline', version };
  const listed = { tools: operations.map(toTool) };
  const tools = new Map(listed.tools.map(({ name }, i) => [name, operations[i]]));

  const openServer = (admitted: Admitted, req: ApiRequest, body: string): Server => {
    const server = new Server(about, OPTIONS);
    server.setRequestHandler('tools/list', () => listed);
    server.setRequestHandler('tools/call', async ({ params: { name: tool } }) => {
      const operation = tools.get(tool);
      if (operation === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such tool.');
      // As they came: the library leaves `__proto__` out.
      const values = JSON.parse(body).params.arguments ?? {};
      const result = await readResult(admitted, operation, values).catch((error: unknown) => {
        const { status, body } = admitted.agents.describeError(error, req);
        return { content: [toTextContent(JSON.stringify(body))], isError: true, _meta: { status } };
      });
      Object.assign(req, { tool, operation: tool, status: result._meta.status });
      return result;
    });
    return server;
  };

  return async (agents: Agents, req: ApiRequest, res: ServerResponse): Promise<void> => {
    try {
      const open = await agents.admit(req);
      refuseOthers(req, baseUrl);
      const text = await readText(req);
      const answer = await exchange(req, text, openServer({ agents, open }, req, text));
      const body = Buffer.from(await answer.arrayBuffer());
      const headers = ['Cache-Control', 'no-store', 'Allow', 'POST'];
      sendAnswer(req, res, { status: answer.status, headers, ...(body.length > 0 && { body }) });
    } catch (error) {
      if (!agents.answerError(error, req, res)) res.destroy();
    }
  };
}

/** A page of another site could use an address that only its visitor reaches. Programs send no Origin. */
function refuseOthers(
  { headers: { origin, host } }: ApiRequest,
  baseUrl: string | undefined,
): void {
  if (origin === undefined) return;
  // Without an address of its own it knows that of the request alone, which a name that is bound anew could have given it.
  const isOwn = baseUrl
    ? origin === new URL(baseUrl).origin
    : origin.replace(/^https?:\/\//, '') === host;
  if (!isOwn) throw new Failure('forbidden', 'Pages of other sites are not answered.');
}

/** No streams: nothing is told but answers. */
const MODERN = { legacy: 'reject', maxSubscriptions: 0, maxRequestBodySize: MAX_BYTES } as const;

/** Revisions from 2026-07-28 on have no handshake, and are read by another transport. */
async function exchange(
  { method = '', headers }: ApiRequest,
  body: string,
  server: Server,
): Promise<Response> {
  if (method !== 'POST') return Response.json(ONLY_POST, { status: 405 });
  // Messages of a batch would count as one, and one that cancels another would leave it without an answer.
  if (/^\s*\[/.test(body)) throw new Failure('validation_error', 'A request has one message.');
  // It is answered with JSON whatever it accepts.
  const accept = 'application/json, text/event-stream';
  const init = { method, headers: { ...(headers as Record<string, string>), accept }, body };
  const request = new Request('http://mcp.invalid', init);
  if (!(await isLegacyRequest(request)))
    return createMcpHandler(() => server, MODERN).fetch(request);
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: MAX_BYTES,
  });
  await server.connect(transport);
  return await transport.handleRequest(request);
}

/** Not much more than is allowed. What follows is read all the same: an answer before it could be lost. */
async function readText(req: ApiRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of req) {
    if (byteCount <= MAX_BYTES) chunks.push(chunk);
    byteCount += chunk.length;
  }
  return Buffer.concat(chunks).toString();
}
