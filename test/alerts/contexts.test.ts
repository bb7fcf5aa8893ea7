import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Facts } from '../../src/domain/alerts/facts.ts';
import { type AlertType, RULES } from '../../src/domain/alerts/registry.ts';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { carryOut, D, days, facts, NOW, times } from '../domain/alerts/facts.ts';

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

const GOOD = days([...times(31, [1000, 990]), [1000, 500]]);
const change = { former: 'v=DMARC1; p=reject', current: null, at: NOW };

/** Facts that fire an alert of each type. */
const REASONS: Readonly<Record<AlertType, Partial<Facts>>> = {
  'alert.alignment_regression': {
    days: GOOD,
    cause: {
      ...{ sender: 'Amazon SES', service: 'Amazon SES', source_ip: null },
      ...{ message_count: 500, failed_count: 499, selector: 's2', signing_domain: 'example.com' },
    },
  },
  'alert.reports_missing': {
    lastReportAt: '2026-03-12T05:00:00Z',
    receipts: ['07', '08', '09', '10', '12'].map((day) => ({ day: `2026-03-${day}`, reports: 3 })),
  },
  'alert.new_failing_source': {
    days: GOOD,
    failingSources: ['192.0.2.1', '2001:db8::1'].map((address) => ({
      ...{ day: D, address, service: null, messages: 25, aligned: 1 },
      ...{ absentDays: null, laterFailingDays: [] },
    })),
  },
  'alert.dns_record_changed': { dns: { spf: { ...UNKNOWN_RECORD, change } } },
  'alert.policy_weakened': { dns: { dmarc: { ...UNKNOWN_RECORD, weakening: change } } },
};

const refs = contract.components.schemas.AlertContext['x-schema-by-type'];

test('every type has facts here, and a schema in the contract', () => {
  expect(Object.keys(REASONS)).toEqual(RULES.map(({ type }) => type));
  expect(Object.keys(refs).toSorted()).toEqual(Object.keys(REASONS).toSorted());
});

test.each(Object.entries(REASONS))(
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
