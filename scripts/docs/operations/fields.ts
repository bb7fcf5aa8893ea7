import { toAnchor, toOperationPath } from '../anchors.ts';
import type { Field } from './blocks.ts';
import {
  type ApiContract,
  type Header,
  nameOf,
  type Parameter,
  type Ref,
  resolve,
  type Schema,
} from './contract.ts';

/** Deeper than any answer. A schema that contains itself ends sooner, where it comes again. */
const DEEPEST = 12;

/** Where a field stands. */
interface Place {
  readonly contract: ApiContract;
  /** The names from the top of the answer. */
  readonly path: readonly string[];
  /** The same with the names of types that choose a schema. */
  readonly wholePath: readonly string[];
  /** The anchors that are there already. */
  readonly used: Set<string>;
  /** The anchors of the operation's parameters. */
  readonly taken: ReadonlySet<string>;
  /** The schemas around it. */
  readonly around: readonly Schema[];
}

/** The fields of a body, with all that are in them. */
export function listFields(
  contract: ApiContract,
  schema: Schema | Ref,
  taken: ReadonlySet<string>,
): Field[] {
  return toFields(resolve(contract, schema), {
    contract,
    path: [],
    wholePath: [],
    used: new Set(),
    taken,
    around: [],
  });
}

export function toParameterField(contract: ApiContract, parameter: Parameter): Field {
  const { name, in: where, required = false } = parameter;
  const facets = [`in ${where}`, required ? 'required' : 'optional'];
  return toValueField(contract, parameter, { name, anchor: toAnchor([name]), facets });
}

export function toHeaderField(
  contract: ApiContract,
  header: Header,
  { name, anchor }: Pick<Field, 'name' | 'anchor'>,
): Field {
  const facets = header.required === true ? [] : ['may be absent'];
  return toValueField(contract, header, { name, anchor, facets });
}

/** A text of the contract: it links each operation that it names, and has the words of a schema that it names. */
export function toText(contract: ApiContract, description: string): string {
  const text = description.trim();
  const schema = /the schema `(\w+)`/.exec(text)?.[1];
  const words = schema === undefined ? undefined : contract.components.schemas[schema]?.description;
  return linkOperations(contract, words === undefined ? text : `${text}\n\n${words.trim()}`);
}

function linkOperations(contract: ApiContract, text: string): string {
  const ids = new Set(
    Object.values(contract.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    ),
  );
  return text.replaceAll(/`(\w+)`/g, (whole, id: string) =>
    ids.has(id) ? `[${whole}](/docs/${toOperationPath(id)})` : whole,
  );
}

function toValueField(
  contract: ApiContract,
  { description, schema, example = schema.example }: Header,
  own: Pick<Field, 'name' | 'anchor' | 'facets'>,
): Field {
  return {
    ...own,
    facets: [...listFacets(schema), ...own.facets],
    values: (schema.enum ?? []).map(String),
    description: toText(contract, description),
    example: schema.enum === undefined ? toExample(example) : undefined,
    fields: [],
  };
}

function toFields(schema: Schema, place: Place): Field[] {
  const { properties = {}, required = [], items, 'x-schema-by-type': byType = {} } = schema;
  if (place.around.includes(schema) || place.around.length === DEEPEST) return [];
  const inner = { ...place, around: [...place.around, schema] };
  if (items !== undefined) return toFields(resolve(place.contract, items), inner);
  return [
    ...Object.entries(properties).map(([name, node]) =>
      toField(name, node, {
        place: { ...inner, path: [...place.path, name], wholePath: [...place.wholePath, name] },
        ownFacets: required.includes(name) ? [] : ['may be absent'],
      }),
    ),
    ...Object.entries(byType).map(([type, node]) =>
      toField(type, node, {
        place: { ...inner, wholePath: [...place.wholePath, type] },
        ownFacets: ['for this type'],
      }),
    ),
  ];
}

interface Named {
  /** Its own, with its name. */
  readonly place: Place;
  readonly ownFacets: readonly string[];
}

function toField(name: string, node: Schema | Ref, { place, ownFacets }: Named): Field {
  const schema = resolve(place.contract, node);
  const anchor = takeAnchor(place);
  const fields = toFields(schema, place);
  return {
    name,
    anchor,
    facets: [...listFacets(schema, node), ...ownFacets],
    values: (schema.enum ?? []).map(String),
    description: toText(place.contract, describe(place.contract, schema)),
    example: fields.length > 0 || schema.enum !== undefined ? undefined : toExample(schema.example),
    fields,
  };
}

/** The types of one object may have fields of one name: the first has the short anchor. */
function takeAnchor({ path, wholePath, taken, used }: Place): string {
  const short = toAnchor(path, taken);
  const anchor = used.has(short) ? toAnchor(wholePath, taken) : short;
  used.add(anchor);
  return anchor;
}

/** A list says what it is, and then what its items are. */
function describe(contract: ApiContract, { description = '', items }: Schema): string {
  const ofItems = items === undefined ? '' : (resolve(contract, items).description ?? '');
  return [description, ofItems]
    .map((text) => text.trim())
    .join('\n\n')
    .trim();
}

function listFacets(schema: Schema, node: Schema | Ref = schema): string[] {
  const { format, nullable, maxItems, pattern, default: usual, description = '' } = schema;
  return [
    toType(schema, node),
    format ?? '',
    nullable === true ? 'nullable' : '',
    toRange(schema),
    maxItems === undefined ? '' : `at most ${maxItems} items`,
    usual === undefined ? '' : `default ${usual}`,
    pattern === undefined ? '' : `pattern ${pattern}`,
    schema.additionalProperties === true ? 'further keys may come' : '',
    isOpen(description) ? 'more values may come' : '',
  ].filter((facet) => facet !== '');
}

function toType(schema: Schema, node: Schema | Ref): string {
  const { type = 'any', items } = schema;
  if (items === undefined) return named(type, nameOf(node));
  const itemType = 'type' in items ? `${items.type}s` : 'objects';
  return named(`array of ${itemType}`, nameOf(items));
}

/** A type with the name that generated clients have for it. */
function named(type: string, name: string | undefined): string {
  return name === undefined ? type : `${type} ${name}`;
}

function toRange({ minimum, maximum, minLength, ...schema }: Schema): string {
  const { 'x-max-length': most, maxLength = most } = schema;
  if (maximum !== undefined) return `${minimum ?? 'up'} to ${maximum}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  if (maxLength === undefined) return '';
  return minLength === undefined
    ? `at most ${maxLength} characters`
    : `${minLength} to ${maxLength} characters`;
}

/** Whether values are named only in words, because more may be added. */
function isOpen(description: string): boolean {
  return /\b(more|new)\s+(values|codes|types|reasons)\s+may/i.test(description);
}

function toExample(example: unknown): string | undefined {
  if (example === undefined || example === null) return undefined;
  return typeof example === 'string' ? example : JSON.stringify(example);
}
