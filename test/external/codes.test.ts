import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { components } from '../../generated/v1.d.ts';
import { type Listed, listCodes } from '../../scripts/contract/codes.ts';
import type { AlertType } from '../../src/domain/alerts/registry.ts';
import type { Resolution } from '../../src/domain/alerts/resolution.ts';
import type { CauseCode } from '../../src/domain/alerts/sender-failing.ts';
import type { KeyFinding, KeyFound } from '../../src/domain/dns/dkim-key.ts';
import type { Policy, PolicyTag, RecordType } from '../../src/domain/dns/dns-record.ts';
import type { SpfFinding } from '../../src/domain/dns/sender-records.ts';
import type { StsPolicyFinding } from '../../src/domain/dns/sts-policy.ts';
import type { StsRecordFinding, TlsRecordFinding } from '../../src/domain/dns/tls-records.ts';
import type { NextStep } from '../../src/domain/next-step.ts';
import type { Standing } from '../../src/domain/own-mail.ts';
import type { Obstacle, Readiness } from '../../src/domain/readiness.ts';
import type { View } from '../../src/domain/reports/authentication.ts';
import type { PolicyType, ResultType, TlsMode } from '../../src/domain/reports/tls-report.ts';
import type { ReasonCode, Verdict } from '../../src/domain/senders/sender.ts';
import type { NamedService } from '../../src/domain/senders/service-name.ts';
import type { ServiceKind } from '../../src/domain/senders/services.ts';
import type { Mark } from '../../src/domain/sources/source.ts';
import type { TlsStep } from '../../src/domain/tls/tls-step.ts';
import { VERDICTS } from '../../src/external/verdicts.ts';
import type { Change } from '../../src/store/feed/feed.ts';

type Schemas = components['schemas'];

/** Codes that only one of the two has. */
type Apart<A, B> = Exclude<A, B> | Exclude<B, A>;
/** What is not the same does not compile, and the error names the codes that only one of the two has. */
type Same<Contract, Code> = [Apart<Contract, Code>] extends [never] ? true : Apart<Contract, Code>;

type Published = Exclude<Policy, 'absent'> | null;

/** The lists of codes in the contract, by their places. `true` alone: no type of the code has exactly these. */
interface Lists {
  readonly 'KnownPolicy.p': Same<Schemas['KnownPolicy']['p'], Published>;
  readonly 'KnownPolicy.sp': Same<Schemas['KnownPolicy']['sp'], Published>;
  readonly 'KnownPolicy.np': Same<Schemas['KnownPolicy']['np'], Published>;
  readonly 'KnownPolicy.known_from': true;
  readonly CountedReporters: Same<Schemas['CountedReporters'], View>;
  readonly 'Readiness.answer': Same<Schemas['Readiness']['answer'], Readiness['answer']>;
  readonly 'Readiness.target': Same<Schemas['Readiness']['target'] | null, Published>;
  readonly 'ReadinessReason.code': Same<Schemas['ReadinessReason']['code'], Obstacle['kind']>;
  readonly 'NextStep.code': Same<Schemas['NextStep']['code'], NextStep['kind']>;
  readonly 'NextStep.alert_type': Same<Schemas['NextStep']['alert_type'], AlertType | null>;
  readonly 'NextStep.tag': Same<Schemas['NextStep']['tag'], PolicyTag | null>;
  readonly 'NextStep.policy': Same<Schemas['NextStep']['policy'], Published>;
  readonly Verdict: Same<Schemas['Verdict'], Verdict>;
  readonly Standing: Same<Schemas['Standing'], Standing>;
  readonly 'KeyAccount.plan': true;
  readonly 'DmarcRecord.state': true;
  readonly 'Source.mark': Same<Schemas['Source']['mark'], Mark | null>;
  readonly 'Source.verdict': Same<Schemas['Source']['verdict'], Verdict | null>;
  readonly 'Source.reasons': Same<Schemas['Source']['reasons'][number], ReasonCode>;
  readonly 'Source.standing': Same<Schemas['Source']['standing'], Standing | null>;
  readonly 'SourceService.kind': Same<Schemas['SourceService']['kind'], ServiceKind | null>;
  readonly 'SourceService.evidence': Same<
    Schemas['SourceService']['evidence'],
    NamedService['by'] | null
  >;
  readonly 'Alert.type': Same<Schemas['Alert']['type'], AlertType>;
  readonly AlertResolution: Same<Schemas['AlertResolution'], Resolution>;
  readonly 'DnsRecordChangedContext.record_type': Same<
    Schemas['DnsRecordChangedContext']['record_type'],
    RecordType
  >;
  readonly 'DnsRecordChangedContext.change': true;
  readonly 'PolicyWeakenedContext.previous_policy': true;
  readonly 'PolicyWeakenedContext.current_policy': true;
  readonly 'PolicyWeakenedContext.tag': true;
  readonly 'TlsDay.policy_type': Same<Schemas['TlsDay']['policy_type'], PolicyType | null>;
  readonly 'TlsDay.mode': Same<Schemas['TlsDay']['mode'], TlsMode | null>;
  readonly 'TlsFailuresContext.mode': Same<Schemas['TlsFailuresContext']['mode'], TlsMode | null>;
  readonly 'TlsFigures.policy_type': Same<Schemas['TlsFigures']['policy_type'], PolicyType | null>;
  readonly 'TlsFigures.mode': Same<Schemas['TlsFigures']['mode'], TlsMode | null>;
  readonly 'SpfRecord.findings': Same<Schemas['SpfRecord']['findings'][number], SpfFinding['code']>;
  readonly 'DkimKey.state': Same<Schemas['DkimKey']['state'], KeyFound['state'] | 'unknown'>;
  readonly 'DkimKey.findings': Same<Schemas['DkimKey']['findings'][number], KeyFinding>;
  readonly 'TlsRecord.findings': Same<Schemas['TlsRecord']['findings'][number], TlsRecordFinding>;
  readonly 'StsPolicy.findings': Same<
    Schemas['StsPolicy']['findings'][number],
    StsRecordFinding | StsPolicyFinding
  >;
  readonly 'StsPolicy.mode': Same<Schemas['StsPolicy']['mode'], TlsMode | null>;
  readonly 'TlsNextStep.code': Same<Schemas['TlsNextStep']['code'], TlsStep['code']>;
  readonly 'TlsReportPolicy.policy_type': Same<
    Schemas['TlsReportPolicy']['policy_type'],
    PolicyType | null
  >;
  readonly 'TlsReportPolicy.mode': Same<Schemas['TlsReportPolicy']['mode'], TlsMode | null>;
  readonly 'TlsFailure.policy_type': Same<Schemas['TlsFailure']['policy_type'], PolicyType | null>;
  readonly TlsResultType: Same<Schemas['TlsResultType'], ResultType | 'unknown'>;
  readonly 'SenderFailingContext.cause': Same<
    NonNullable<Schemas['SenderFailingContext']['cause']>,
    CauseCode
  >;
  readonly 'Change.type': Same<Schemas['Change']['type'], Change['type']>;
  readonly 'ErrorDetail.code': true;
}

const SAME: Lists = {
  'KnownPolicy.p': true,
  'KnownPolicy.sp': true,
  'KnownPolicy.np': true,
  'KnownPolicy.known_from': true,
  CountedReporters: true,
  'Readiness.answer': true,
  'Readiness.target': true,
  'ReadinessReason.code': true,
  'NextStep.code': true,
  'NextStep.alert_type': true,
  'NextStep.tag': true,
  'NextStep.policy': true,
  Verdict: true,
  Standing: true,
  'KeyAccount.plan': true,
  'DmarcRecord.state': true,
  'Source.mark': true,
  'Source.verdict': true,
  'Source.reasons': true,
  'Source.standing': true,
  'SourceService.kind': true,
  'SourceService.evidence': true,
  'Alert.type': true,
  AlertResolution: true,
  'DnsRecordChangedContext.record_type': true,
  'DnsRecordChangedContext.change': true,
  'PolicyWeakenedContext.previous_policy': true,
  'PolicyWeakenedContext.current_policy': true,
  'PolicyWeakenedContext.tag': true,
  'TlsDay.policy_type': true,
  'TlsDay.mode': true,
  'TlsFailuresContext.mode': true,
  'TlsFigures.policy_type': true,
  'TlsFigures.mode': true,
  'SpfRecord.findings': true,
  'DkimKey.state': true,
  'DkimKey.findings': true,
  'TlsRecord.findings': true,
  'StsPolicy.findings': true,
  'StsPolicy.mode': true,
  'TlsNextStep.code': true,
  'TlsReportPolicy.policy_type': true,
  'TlsReportPolicy.mode': true,
  'TlsFailure.policy_type': true,
  TlsResultType: true,
  'SenderFailingContext.cause': true,
  'Change.type': true,
  'ErrorDetail.code': true,
};

const { schemas } = parse(readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8'))
  .components as { readonly schemas: Readonly<Record<string, Listed>> };
const lists = listCodes(schemas);

test('every list of codes in the contract is compared with the code', () => {
  expect([...lists.keys()].toSorted()).toEqual(Object.keys(SAME).toSorted());
});

test.each([...lists])('%s names no code twice', (_, codes) => {
  expect(new Set(codes).size).toBe(codes.length);
});

const DESCRIBED = [
  'Readiness.answer',
  'ReadinessReason.code',
  'NextStep.code',
  'Source.reasons',
].concat(['Verdict', 'Standing', 'AlertResolution', 'SourceService.kind', 'Change.type']);

test.each(DESCRIBED)('each code of %s is described', (place) => {
  const path = place.split('.');
  const [name = '', field = ''] = path;
  const { description = '' } = schemas[name]?.properties?.[field] ?? schemas[name] ?? {};
  expect(lists.get(place)?.filter((code) => !description.includes(`\`${code}\``))).toEqual([]);
});

test('the verdicts that sources can be filtered by are those that they have', () => {
  expect(lists.get('Verdict')).toEqual([...VERDICTS]);
});

test('the guide of the feed names each type of change', () => {
  const guide = readFileSync(new URL('../../openapi/guides/feed.md', import.meta.url), 'utf8');
  const types = lists.get('Change.type') ?? [];
  expect(types).not.toEqual([]);
  expect(types.filter((type) => !guide.includes(`\`${type}\``))).toEqual([]);
});
