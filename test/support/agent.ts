import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaType, JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { onTestFinished } from 'vitest';
import type { Api } from './api.ts';

/** Compiles each schema once: those of all tools take a quarter of a second. */
class Validators extends AjvJsonSchemaValidator {
  readonly #known = new Map<string, unknown>();

  override getValidator<T>(schema: JsonSchemaType) {
    const text = JSON.stringify(schema);
    const known = this.#known.get(text) ?? super.getValidator<T>(schema);
    this.#known.set(text, known);
    return known as JsonSchemaValidator<T>;
  }
}
const jsonSchemaValidator = new Validators();

type Values = Readonly<Record<string, unknown>>;

/** An agent that is connected by the protocol's own client, which holds each result to its tool's output schema. */
export async function anAgent({ port }: Pick<Api, 'port'>, key: string, base = '') {
  const client = new Client({ name: 'test', version: '1.0.0' }, { jsonSchemaValidator });
  const address = new URL(`http://127.0.0.1:${port}${base}/mcp`);
  const headers = { Authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  // The client knows the output schemas of the tools that it has listed.
  const { tools } = await client.listTools();
  let calls = 0;
  const call = async (name: string, values: Values = {}) => {
    calls += 1;
    const result = (await client.callTool({ name, arguments: values })) as CallToolResult;
    const content = result.content as readonly { readonly text: string }[];
    const meta = result._meta as Values;
    // biome-ignore lint/suspicious/noExplicitAny: tests read bodies that the client has checked.
    const body: any = JSON.parse(content[0]?.text ?? '');
    return { ...result, texts: content.map(({ text }) => text), body, meta };
  };
  return { client, tools, call, countCalls: () => calls };
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
