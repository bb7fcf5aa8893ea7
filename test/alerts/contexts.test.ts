import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { carryOut, FIRING, facts } from '../domain/alerts/facts.ts';

const contract = parse(
  readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8'),
  // An example is not a keyword of JSON Schema, and ajv accepts `nullable` only beside a type.
) as {
  components: {
    schemas: Record<string, object> & {
      AlertContext: { 'x-schema-by-type': Record<string, { $ref: string }> };
    };
  };
};

const ajv = new Ajv({ strict: false, allErrors: true });
addFormatsModule.default(ajv);
ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger });
ajv.addSchema(contract, 'v1');

const refs = contract.components.schemas.AlertContext['x-schema-by-type'];

test.each(Object.entries(FIRING))(
  'the context of %s matches the contract and has no other fields',
  (type, known) => {
    const context = carryOut(facts(known)).find((alert) => alert.type === type)?.context ?? {};
    const ref = refs[type]?.$ref ?? '';
    const name = ref.split('/').at(-1) ?? '';
    const schema = contract.components.schemas[name] as { properties: object; example: object };
    expect(schema, name).toBeDefined();
    const validate = ajv.getSchema(`v1${ref}`);
    expect(validate?.(context), JSON.stringify(validate?.errors)).toBe(true);
    // An open alert has no resolution yet, and these reports are files.
    const documented = Object.keys(schema.properties).filter(
      (name) => !['resolution', 'unauthenticated', 'unconfirmed'].includes(name),
    );
    expect(Object.keys(context).sort()).toEqual(documented.sort());
    expect(Object.keys(schema.example).sort()).toEqual(Object.keys(context).sort());
  },
);
