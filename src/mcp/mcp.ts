import type { ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { Failure } from '../domain/failure.ts';
import type { Agents } from '../external/api.ts';
import type { ApiRequest } from '../external/request.ts';
import { send } from '../external/send.ts';
import { toTool } from './tools.ts';

const MAX_BYTES = 64 * 1024;
const ONLY_POST = { error: { code: 'method_not_allowed', message: 'Only POST is answered.' } };
const OPTIONS = {
  capabilities: { tools: {} },
  instructions:
    'Read-only DMARC monitoring data of one account. Begin with list_overview: each domain with its figures, its readiness for a stronger policy, and its next step. get_domain has the same of one domain, list_sources who sends in its name. The second text of a result has what is not in its data: "next", the arguments of the call for the next page, and "cursor", which descriptions name Plumbline-Cursor.',
};

/**
 * The Model Context Protocol without sessions: a request has a server of its own, which ends with the answer. The answer is JSON,
 * because there is no stream to open, and nothing to delete.
 */
export function createMcp({ operations }: Agents, version: string) {
  const about = { name: 'plumbline', title: 'Plumbline', version };
  const listed = { tools: operations.map(toTool) };
  const tools = new Map(listed.tools.map(({ name }, i) => [name, operations[i]]));

  const openServer = async (agents: Agents, req: ApiRequest): Promise<Server> => {
    const open = await agents.admit(req);
    const server = new Server(about, OPTIONS);
    server.setRequestHandler(ListToolsRequestSchema, () => listed);
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const { name: tool, arguments: values = {} } = params;
      const operation = tools.get(tool);
      if (operation === undefined) throw new McpError(ErrorCode.InvalidParams, 'No such tool.');
      const call = async () => {
        const request = agents.toRequest(operation, values);
        const { json, ...rest } = await agents.readList(request, await open(request));
        const texts = [json, JSON.stringify(rest)].filter((text) => text !== '{}');
        const structuredContent = JSON.parse(json);
        return { content: texts.map(toText), structuredContent, _meta: { status: 200, ...rest } };
      };
      const result = await call().catch((error: unknown) => {
        const { status, body } = agents.describeError(error, req);
        return { content: [toText(JSON.stringify(body))], isError: true, _meta: { status } };
      });
      Object.assign(req, { tool, operation: tool, status: result._meta.status });
      return result;
    });
    return server;
  };

  return async (agents: Agents, req: ApiRequest, res: ServerResponse): Promise<void> => {
    try {
      const answer = await exchange(req, await openServer(agents, req));
      const body = Buffer.from(await answer.arrayBuffer());
      const headers = ['Cache-Control', 'no-store', 'Allow', 'POST'];
      send(req, res, { status: answer.status, headers, ...(body.length > 0 && { body }) });
    } catch (error) {
      if (!agents.answerError(error, req, res)) res.destroy();
    }
  };
}

const toText = (text: string) => ({ type: 'text', text }) as const;

async function exchange(req: ApiRequest, server: Server): Promise<Response> {
  const { method, headers } = req;
  // A page of another site could use an address that only its visitor reaches. Programs send no Origin.
  if (headers.origin !== undefined && headers.origin.replace(/^https?:\/\//, '') !== headers.host)
    throw new Failure('forbidden', 'Pages of other sites are not answered.');
  const body = await readText(req);
  if (method !== 'POST') return Response.json(ONLY_POST, { status: 405 });
  // Messages of a batch would count as one, and one that cancels another would leave it without an answer.
  if (/^\s*\[/.test(body)) throw new Failure('validation_error', 'A request has one message.');
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: MAX_BYTES,
  });
  await server.connect(transport);
  // It is answered with JSON whatever it accepts.
  const accept = 'application/json, text/event-stream';
  const init = { method, headers: { ...(headers as Record<string, string>), accept }, body };
  return await transport.handleRequest(new Request('http://mcp.invalid', init));
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
