import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { Api } from './api.ts';

type Values = Readonly<Record<string, unknown>>;

/** An agent that is connected by the protocol's own client: by the newest revision, or by those with a handshake. */
export async function anAgent(
  { port }: Pick<Api, 'port'>,
  key: string,
  base = '',
  mode: 'auto' | 'legacy' = 'auto',
) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const address = new URL(`http://127.0.0.1:${port}${base}/mcp`);
  const headers = { Authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  let [calls, bytes] = [0, 0];
  const call = async (name: string, values: Values = {}) => {
    calls += 1;
    const result = (await client.callTool({ name, arguments: values })) as CallToolResult;
    const content = result.content as readonly { readonly text: string }[];
    const meta = result._meta as Values;
    // biome-ignore lint/suspicious/noExplicitAny: tests read bodies that the client has checked.
    const body: any = JSON.parse(content[0]?.text ?? '');
    const texts = content.map(({ text }) => text);
    bytes += Buffer.byteLength(texts.join(''));
    return { ...result, texts, body, meta };
  };
  return { client, tools, call, countCalls: () => calls, countBytes: () => bytes };
}

/** A message as any program could send it. */
export async function postMessage(
  { port }: Pick<Api, 'port'>,
  body: BodyInit,
  {
    headers = {},
    ...init
  }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
) {
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
    ...init,
  });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of any form.
  const json: any = text === '' ? undefined : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body: json };
}
