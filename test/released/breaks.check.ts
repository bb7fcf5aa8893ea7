import { describe, expect, test } from 'vitest';
import * as v1 from './plant.ts';
import { drop, move, type Plant, set, type Tree, toggleRequired } from './plant.ts';

const RETRY_AFTER = v1.header('alerts', 429, 'Retry-After');

const INT32 = { format: 'int32' };

const ANSWERED: readonly [string, ...Plant[]][] = [
  [
    'a field is removed',
    toggleRequired(v1.item('reports'), 'record_count'),
    (tree) => delete v1.item('reports')(tree).properties.record_count,
  ],
  ['an optional field is removed', (tree) => delete v1.context(tree).properties.day],
  [
    'a field is renamed',
    toggleRequired(v1.item('domains'), 'domain'),
    toggleRequired(v1.item('domains'), 'name'),
    move((tree) => v1.item('domains')(tree).properties, 'domain', 'name'),
  ],
  ['a required field becomes optional', toggleRequired(v1.item('alerts'), 'resolved_at')],
  ['a field may be null', set(v1.field('reports', 'begin_date'), { nullable: true })],
  ['a field has another type', set(v1.contextField('drop_pct'), { type: 'string' })],
  ['a field has a wider type', set(v1.field('reports', 'record_count'), { type: 'number' })],
  ['a field has a smaller type', set(v1.field('reports', 'record_count'), { format: 'int32' })],
  ['a field loses its format', drop(v1.field('reports', 'begin_date'), 'format')],
  ['a field has a wider range', set(v1.contextField('prev_pass_rate'), { maximum: 1000 })],
  ['a field has one value more', (tree) => v1.field('domains', 'status')(tree).enum.push('new')],
  ['a field has one value less', (tree) => v1.field('domains', 'status')(tree).enum.pop()],
  ['an open object is closed', set(v1.field('alerts', 'context'), { additionalProperties: false })],
  ["an alert type's context goes", (tree) => delete v1.contexts(tree)[v1.REGRESSION]],
  [
    "an alert type has another's context",
    (tree) => Object.assign(v1.contexts(tree), { [v1.REGRESSION]: { $ref: v1.MISSING } }),
  ],
  ['a header is removed', drop(v1.headers('domains', 200), 'ETag')],
  ['a header becomes optional', set(RETRY_AFTER, { required: false })],
  ['a header has another type', set(RETRY_AFTER, { schema: { type: 'string' } })],
  ['a header has one value more', (tree) => RETRY_AFTER(tree).schema.enum.push(120)],
  [
    'a header has another pattern',
    (tree) => Object.assign(v1.header('alerts', 200, 'ETag')(tree).schema, { pattern: '^"' }),
  ],
  ['a webhook is removed', (tree) => delete tree['x-webhooks']['alert.fired']],
  ['a webhook lacks a header', (tree) => tree['x-webhooks']['alert.fired'].post.parameters.pop()],
  [
    'what a webhook is sent lacks a field',
    (tree) => delete v1.sent('ReportEvent')(tree).properties.data.properties.cursor,
  ],
  [
    'what a webhook is sent has another type',
    set((tree) => v1.sent('TestEvent')(tree).properties.timestamp, { type: 'integer' }),
  ],
  ['an error status is removed', (tree) => delete v1.operation('reports')(tree).responses[404]],
  ['the 304 is removed', (tree) => delete v1.operation('reports')(tree).responses[304]],
  [
    'there is another success',
    (tree) => Object.assign(v1.operation('domains')(tree).responses, { 202: { description: '' } }),
  ],
  [
    'an answer has another media type',
    move(v1.content('domains', 200), 'application/json', 'application/hal+json'),
  ],
  [
    'an error has another code',
    (tree) => {
      const { examples } = v1.content('reports', 404)(tree)['application/json'];
      for (const { value } of Object.values<Tree>(examples)) value.error.code = 'gone';
    },
  ],
];

const ASKED: readonly [string, ...Plant[]][] = [
  ['a required parameter is added', v1.addParameter('alerts', 'subject', { required: true })],
  ['a parameter becomes required', set(v1.parameter('alerts', 'domain_id'), { required: true })],
  ['a parameter is removed', (tree) => v1.operation('alerts')(tree).parameters.pop()],
  ['a parameter is renamed', set(v1.parameter('alerts', 'offset'), { name: 'skip' })],
  [
    'a parameter in the path is renamed',
    set(v1.parameter('reports', 'domain_id'), { name: 'id' }),
    move(({ paths }) => paths, v1.LISTS.reports, '/v1/external/domains/{id}/reports'),
  ],
  ['a parameter has a lower maximum', set(v1.parameterSchema('alerts', 'limit'), { maximum: 100 })],
  ['a parameter has a higher minimum', set(v1.parameterSchema('alerts', 'limit'), { minimum: 10 })],
  ['a parameter has another default', set(v1.parameterSchema('alerts', 'limit'), { default: 25 })],
  ['a parameter has another type', set(v1.parameterSchema('alerts', 'offset'), { type: 'string' })],
  ['a parameter without a bound has 32 bits', set(v1.parameterSchema('alerts', 'offset'), INT32)],
  ['a parameter loses its format', drop(v1.parameterSchema('alerts', 'domain_id'), 'format')],
  [
    'a parameter has a pattern',
    set(v1.parameterSchema('alerts', 'X-Request-Id'), { pattern: 'a' }),
  ],
  [
    'a parameter has few values',
    set(v1.parameterSchema('alerts', 'X-Request-Id'), { enum: ['a'] }),
  ],
  ['a parameter has another style', set(v1.parameter('alerts', 'offset'), { explode: false })],
  [
    'keys are sent in another way',
    (tree) => Object.assign(tree.components.securitySchemes.apiKey, { scheme: 'basic' }),
  ],
  ['keys are not required any more', (tree) => Object.assign(tree, { security: [] })],
];

const GENERATED: readonly [string, ...Plant[]][] = [
  ['a path is renamed', move(({ paths }) => paths, v1.LISTS.alerts, '/v1/external/notices')],
  ['an operation is removed', drop(({ paths }) => paths, v1.LISTS.alerts)],
  ['an operation has another id', set(v1.operation('alerts'), { operationId: 'getAlerts' })],
  ['an operation has another tag', set(v1.operation('alerts'), { tags: ['Domains'] })],
  ['an operation is deprecated without days', set(v1.operation('alerts'), { deprecated: true })],
  [
    'a schema is renamed',
    (tree) => {
      const { schema } = v1.content('reports', 200)(tree)['application/json'];
      const name = schema.$ref.split('/').at(-1);
      move(({ components }) => components.schemas, name, 'Renamed')(tree);
      schema.$ref = '#/components/schemas/Renamed';
    },
  ],
];

test('an optional header is removed: refused', async () => {
  const age: Plant = set(v1.headers('domains', 200), { Age: { schema: { type: 'integer' } } });
  const problems = await v1.hold([drop(v1.headers('domains', 200), 'Age')], '', [age]);
  expect(problems).toEqual([expect.stringMatching(/^breaks .*`age` removed/)]);
});

describe.each([
  ['What is answered', ANSWERED],
  ['What is asked', ASKED],
  ['What clients are generated from', GENERATED],
])('%s: refused when', (_what, table) => {
  test.each(table)('%s', async (_change, ...plants) => {
    const problems = await v1.hold(plants);
    expect(problems.filter((problem) => problem.startsWith('breaks '))).not.toEqual([]);
  });
});
