import { describe, expect, test } from 'vitest';
import * as v1 from './plant.ts';
import { drop, type Plant, set, toggleRequired } from './plant.ts';

const WHEN = { type: 'string', description: 'When.' };
const addField: Plant = (tree) =>
  Object.assign(v1.item('reports')(tree).properties, { received_at: WHEN });

describe('accepted when, and only when, the changelog names it', () => {
  test.each<[string, string, ...Plant[]]>([
    ['an optional parameter', 'reporter', v1.addParameter('reports', 'reporter')],
    ['an optional header', 'Prefer', v1.addParameter('reports', 'Prefer', { in: 'header' })],
    ['a higher maximum', 'limit', set(v1.parameterSchema('reports', 'limit'), { maximum: 500 })],
    ['a field', 'received_at', addField],
    [
      'a field that is always present',
      'received_at',
      addField,
      toggleRequired(v1.item('reports'), 'received_at'),
    ],
    ['a field that is now always present', 'day', toggleRequired(v1.context, 'day')],
    [
      'a field that is not nullable any more',
      'reporter_email',
      set(v1.field('reports', 'reporter_email'), { nullable: false }),
    ],
    [
      'a field of one context',
      'seen_at',
      (tree) => Object.assign(v1.context(tree).properties, { seen_at: WHEN }),
    ],
    [
      "another alert type's context",
      'alert.volume',
      (tree) => {
        tree.components.schemas.VolumeContext = { type: 'object', properties: { day: WHEN } };
        const added = { $ref: '#/components/schemas/VolumeContext' };
        Object.assign(v1.contexts(tree), { 'alert.volume': added });
      },
    ],
    ['a header', 'Age', set(v1.headers('domains', 200), { Age: { schema: { type: 'integer' } } })],
    [
      'a webhook',
      'alert.changed',
      (tree) => {
        const { post } = tree['x-webhooks']['alert.fired'];
        tree['x-webhooks']['alert.changed'] = { post: { ...post, operationId: 'onAlertChanged' } };
      },
    ],
    [
      'a field of what a webhook is sent',
      'report_ids',
      (tree) =>
        Object.assign(v1.sent('ReportEvent')(tree).properties.data.properties, {
          report_ids: WHEN,
        }),
    ],
    [
      'an error status',
      '504',
      (tree) => {
        const { responses } = v1.operation('domains')(tree);
        responses[504] = responses[500];
      },
    ],
    [
      'an error code',
      'no_such_day',
      (tree) => {
        const { examples } = v1.content('reports', 404)(tree)['application/json'];
        examples.no_such_day = { value: { error: { code: 'no_such_day', message: 'No.' } } };
      },
    ],
    [
      'an operation',
      '/v1/external/sources',
      (tree) => {
        const responses = { 200: { description: 'Sources.' } };
        tree.paths['/v1/external/sources'] = { get: { operationId: 'listSources', responses } };
      },
    ],
    [
      'a deprecation',
      'listAlerts',
      set(v1.operation('alerts'), { deprecated: true, 'x-sunset': '2999-01-01' }),
    ],
  ])('%s: %s', async (_what, name, ...plants) => {
    const message = `is new, and not named in CHANGELOG.md, Unreleased, API: \`${name}\``;
    const unnamed = [expect.stringMatching(new RegExp(`^${message}$`, 'i'))];
    expect(await v1.hold(plants)).toEqual(unnamed);
    // In prose the word may occur by chance, and part of another name is not the name.
    expect(await v1.hold(plants, `- About ${name}, and \`x${name}\`.`)).toEqual(unnamed);
    expect(await v1.hold(plants, `- There is \`${name}\`.`)).toEqual([]);
  });

  test('a name in another part of the changelog does not count', async () => {
    expect(await v1.hold([v1.addParameter('reports', 'elsewhere')])).toHaveLength(1);
  });

  test('each of several names counts', async () => {
    const plants = [v1.addParameter('reports', 'reporter'), addField];
    expect(await v1.hold(plants, '- `reporter`')).toEqual([
      'is new, and not named in CHANGELOG.md, Unreleased, API: `received_at`',
    ]);
  });
});

describe('a correction of what the contract says is accepted when the changelog names it', () => {
  const SUNSET = { schema: { type: 'string' } };

  test.each<[string, string, Plant, Plant]>([
    [
      'an operation that is not deprecated declares no Sunset any more',
      'sunset',
      set(v1.headers('alerts', 200), { Sunset: SUNSET }),
      drop(v1.headers('alerts', 200), 'Sunset'),
    ],
    [
      'limit, which is at most 200, has 32 bits',
      'limit',
      drop(v1.parameterSchema('alerts', 'limit'), 'format'),
      set(v1.parameterSchema('alerts', 'limit'), { format: 'int32' }),
    ],
  ])('%s', async (_what, name, before, after) => {
    expect(await v1.hold([after], '', [before])).toEqual([
      `is new, and not named in CHANGELOG.md, Unreleased, API: \`${name}\``,
    ]);
    expect(await v1.hold([after], `- About \`${name}\`.`, [before])).toEqual([]);
  });
});

test('other descriptions and examples are not changes', async () => {
  const words: Plant[] = [
    (tree) => Object.assign(tree.info, { description: 'Shorter.' }),
    set(v1.operation('alerts'), { summary: 'All alerts', description: 'All of them.' }),
    set(v1.field('reports', 'begin_date'), { example: '2026-01-01T00:00:00Z' }),
  ];
  expect(await v1.hold(words)).toEqual([]);
});
