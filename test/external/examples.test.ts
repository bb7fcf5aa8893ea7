import { describe, expect, test } from 'vitest';
import { toInvalid } from '../../src/external/contract.ts';
import type { Parameter } from '../../src/external/parameters.ts';
import { findWrong, listExamples } from '../support/contract.ts';
import { components, operations, type Schema } from '../support/contract-document.ts';
import { findBroken, findBrokenContext, type ListBody } from '../support/prose-rules.ts';

const examples = listExamples();
const schemas = Object.entries(components.schemas);
const lists = schemas.filter(
  ([name, { required }]) => name.endsWith('List') && (required as string[]).includes('total'),
);
const contexts = Object.entries(
  components.schemas['AlertContext']?.['x-schema-by-type'] as Record<string, Schema>,
);

test('the contract has examples', () => {
  expect(examples.length).toBeGreaterThan(10);
  expect(lists).toHaveLength(11);
  expect(contexts).toHaveLength(7);
});

test.each(examples)(
  'the example $where matches its schema, and has no other fields',
  ({ wrong }) => {
    expect(wrong).toBeUndefined();
  },
);

test.each(schemas)('the examples in %s match it', (_name, schema) => {
  for (const part of listParts(schema)) {
    if ('example' in part) expect(findWrong(part, part['example'])).toBeUndefined();
  }
});

describe('no example contradicts the prose', () => {
  const bodies = examples.filter(({ value }) => 'total' in (value as object));

  test.each(bodies)('$where', ({ value }) => {
    expect(findBroken(value as ListBody)).toEqual([]);
  });

  test.each(lists)(
    '%s, as a mock server makes it from the examples of its parts',
    (_name, schema) => {
      const mocked = toMocked(schema);
      expect(findWrong(schema, mocked)).toBeUndefined();
      expect(findBroken(mocked as ListBody)).toEqual([]);
    },
  );

  test.each(contexts)('the context of %s, whole and made from its parts', (type, schema) => {
    const { example: _, ...parts } = schema;
    for (const context of [toMocked(schema), toMocked(parts)]) {
      expect(findWrong(schema, context)).toBeUndefined();
      expect(findBrokenContext(type, context)).toEqual([]);
    }
  });
});

describe('a list that contradicts the prose is found', () => {
  const { value } = examples.find(({ where }) => where.includes('open_and_resolved')) ?? {};
  const alerts = value as ListBody;
  const [open] = alerts.data as [Record<string, unknown>];
  const regression = { ...open, context: { ...(open['context'] as object), drop_pct: 12 } };
  const source = { ip: '192.0.2.9', message_count: 25, failed_count: 20 };
  const domain = { id: '1', domain: 'a.example', status: 'paused' };

  test.each<[string, ListBody]>([
    ['data and total contradict each other', { ...alerts, total: 182 }],
    ['the order is not the list’s', { ...alerts, data: alerts.data.toReversed() }],
    ['an id occurs twice', { data: [open, open], total: 2 }],
    ['only active domains are listed', { data: [domain], total: 1 }],
    ['the drop is the difference of the rates', { data: [regression], total: 1 }],
    [
      'each source sent 20 messages, of which 90 % failed',
      {
        data: [
          {
            ...open,
            type: 'alert.new_failing_source',
            context: {
              message_count: 25,
              failed_count: 20,
              sources: [source],
              additional_sources: 0,
            },
          },
        ],
        total: 1,
      },
    ],
  ])('%s', (says, body) => {
    expect(findBroken(body)).toEqual([says]);
  });
});

describe('parameters', () => {
  const parameters = operations.flatMap((operation) => operation.parameters);

  test('headers have no examples: tools send them with every request', () => {
    const headers = parameters.filter((parameter) => parameter.in === 'header');
    expect(headers.length).toBeGreaterThan(0);
    expect(headers.filter((parameter) => 'example' in parameter)).toEqual([]);
  });

  test('every other optional parameter has its default as its example, a cursor that every list knows, or none', () => {
    const optional = parameters.filter(({ in: place }) => place === 'query');
    expect(optional.length).toBeGreaterThan(0);
    for (const { example, schema } of optional)
      if (example !== undefined) expect([schema['default'], 'start']).toContain(example);
  });
});

describe('a mock server answers with the first example of a status', () => {
  test.each(operations)(
    '$operationId: the 422 names no parameter that may be right',
    ({ responses }) => {
      const [first] = Object.values(
        responses['422']?.content?.['application/json']?.examples ?? {},
      );
      const { error } = (first?.value ?? {}) as { error?: Record<string, string> };
      expect(error?.['code']).toBe('validation_error');
      expect(error?.['message']).not.toMatch(/"|limit|offset|domain_id/);
    },
  );

  test.each(operations)(
    '$operationId: a 422 has, for each parameter of the query or path, the message that is answered',
    ({ parameters, responses }) => {
      const { examples = {} } = responses['422']?.content?.['application/json'] ?? {};
      const messages = Object.values(examples).map(
        ({ value }) => (value as { error: { message: string } }).error.message,
      );
      for (const { name } of parameters.filter((parameter) => parameter.in !== 'header'))
        expect(messages).toContain(
          toInvalid({ parameters: parameters as Parameter[] }, name).message,
        );
    },
  );
});

/** The schema, and those of its fields and items. */
function listParts(schema: Schema): Schema[] {
  const { properties = {}, items } = schema as {
    properties?: Record<string, Schema>;
    items?: Schema;
  };
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  return [schema, ...inner.flatMap(listParts)];
}

/** What a mock server makes of a schema: its example, or one made from the examples of its parts. */
function toMocked(schema: Schema): unknown {
  if ('example' in schema) return schema['example'];
  const { properties, items } = schema as { properties?: Record<string, Schema>; items?: Schema };
  if (properties !== undefined) {
    const entries = Object.entries(properties);
    return Object.fromEntries(entries.map(([name, part]) => [name, toMocked(part)]));
  }
  return items === undefined ? undefined : [toMocked(items)];
}
