import type { components } from '../../../generated/v1.d.ts';
import type { AlertType } from '../../domain/alerts/registry.ts';

type Schemas = components['schemas'];

/** The context of an alert of each type. A type whose context v1.yaml does not describe does not compile. */
export type AlertContexts = OfEveryType<{
  readonly 'alert.alignment_regression': Schemas['AlignmentRegressionContext'];
  readonly 'alert.reports_missing': Schemas['ReportsMissingContext'];
  readonly 'alert.new_failing_source': Schemas['NewFailingSourceContext'];
  readonly 'alert.dns_record_changed': Schemas['DnsRecordChangedContext'];
  readonly 'alert.policy_weakened': Schemas['PolicyWeakenedContext'];
}>;

type OfEveryType<Contexts extends Readonly<Record<AlertType, object>>> = Contexts;
