/** Changes to openapi/v1.yaml for tests, by what they change. References are followed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { listProblems } from '../../scripts/contract/check.ts';
import { aFolder } from '../support/command.ts';

const V1 = 'openapi/v1.yaml';

export const LISTS = {
  domains: '/v1/external/domains',
  reports: '/v1/external/domains/{domain_id}/reports',
  alerts: '/v1/external/alerts',
};
type List = keyof typeof LISTS;

// biome-ignore lint/suspicious/noExplicitAny: a document that tests change in any way.
export type Tree = any;
export type Plant = (v1: Tree) => unknown;
type Find = (v1: Tree) => Tree;

export const set =
  (find: Find, values: object): Plant =>
  (v1) =>
    Object.assign(find(v1), values);

export const drop =
  (find: Find, name: string): Plant =>
  (v1) =>
    delete find(v1)[name];

export const move =
  (find: Find, from: string, to: string): Plant =>
  (v1) => {
    const tree = find(v1);
    tree[to] = tree[from];
    delete tree[from];
  };

export const operation =
  (list: List): Find =>
  ({ paths }) =>
    paths[LISTS[list]].get;

const answer =
  (list: List, status: number): Find =>
  (v1) =>
    look(v1, operation(list)(v1).responses[status]);

export const headers =
  (list: List, status: number): Find =>
  (v1) =>
    answer(list, status)(v1).headers;

export const header =
  (list: List, status: number, name: string): Find =>
  (v1) =>
    look(v1, headers(list, status)(v1)[name]);

export const content =
  (list: List, status: number): Find =>
  (v1) =>
    answer(list, status)(v1).content;

export const item =
  (list: List): Find =>
  (v1) => {
    const { properties } = look(v1, content(list, 200)(v1)['application/json'].schema);
    return look(v1, look(v1, properties.data).items);
  };

/** What an endpoint is sent. */
export const sent =
  (name: 'AlertEvent' | 'ReportEvent' | 'TestEvent'): Find =>
  ({ components }) =>
    components.schemas[name];

export const field =
  (list: List, name: string): Find =>
  (v1) =>
    look(v1, item(list)(v1).properties[name]);

export const contextField =
  (name: string): Find =>
  (v1) =>
    look(v1, context(v1).properties[name]);

export const REGRESSION = 'alert.alignment_regression';
export const MISSING = '#/components/schemas/ReportsMissingContext';

export const contexts: Find = (v1) => field('alerts', 'context')(v1)['x-schema-by-type'];

/** The context of alert.alignment_regression. */
export const context: Find = (v1) => look(v1, contexts(v1)[REGRESSION]);

export const parameter =
  (list: List, name: string): Find =>
  (v1) => {
    const parameters = operation(list)(v1).parameters.map((node: Tree) => look(v1, node));
    return parameters.find((node: Tree) => node.name === name);
  };

export const parameterSchema =
  (list: List, name: string): Find =>
  (v1) =>
    look(v1, parameter(list, name)(v1).schema);

/** An optional parameter by default. */
export const addParameter =
  (list: List, name: string, values: object = {}): Plant =>
  (v1) =>
    operation(list)(v1).parameters.push({
      ...{ name, in: 'query', description: 'Only these.', schema: { type: 'string' } },
      ...values,
    });

/** Makes a required field optional, or an optional one required. */
export const toggleRequired =
  (find: Find, name: string): Plant =>
  (v1) => {
    const tree = find(v1);
    const others = tree.required.filter((other: string) => other !== name);
    tree.required = others.length < tree.required.length ? others : [...others, name];
  };

/**
 * The result of the check for the changed contract, when the present contract, with some changes before, is
 * the released one.
 */
export async function hold(
  plants: readonly Plant[],
  unreleased = '',
  before: readonly Plant[] = [],
): Promise<readonly string[]> {
  const v1 = parse(readFileSync(V1, 'utf8'));
  for (const plant of before) plant(v1);
  const folder = await aFolder();
  const [released, current] = [join(folder, 'released.json'), join(folder, 'v1.json')];
  const text = JSON.stringify(v1);
  writeFileSync(released, text);
  for (const plant of plants) plant(v1);
  if (JSON.stringify(v1) === text) throw new Error('Nothing was planted.');
  writeFileSync(current, JSON.stringify(v1));
  const changelog = `## Unreleased\n\n### API\n\n${unreleased}\n\n### Service\n\n- \`elsewhere\`\n`;
  return listProblems({ released, current, changelog });
}

function look(v1: Tree, node: Tree): Tree {
  if (node.$ref === undefined) return node;
  const keys: string[] = node.$ref.slice(2).split('/');
  return look(
    v1,
    keys.reduce((tree, key) => tree[key], v1),
  );
}
