import type { Tables } from '../tables.ts';

/** A table as `plumbline move` copies it. */
export interface MovedTable {
  readonly name: keyof Tables;
  /** The columns of its primary key on SQLite, in order. Rows are copied and compared in this order. */
  readonly key: readonly string[];
}

/** Every table that is moved; one that others refer to stands before them. */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: 'account', key: ['id'] },
  { name: 'api_key', key: ['id'] },
  { name: 'domain', key: ['id'] },
  { name: 'source', key: ['seq'] },
  { name: 'source_part', key: ['source_seq', 'part'] },
  { name: 'report', key: ['seq'] },
  { name: 'conflict', key: ['seq'] },
  { name: 'rejection', key: ['seq'] },
  { name: 'removed_payload', key: ['report_id', 'payload_sha256'] },
  { name: 'domain_day', key: ['domain_id', 'day'] },
  { name: 'domain_source_ip', key: ['domain_id', 'day', 'address'] },
  { name: 'source_period', key: ['domain_id', 'period'] },
  { name: 'source_sum', key: ['domain_id', 'period', 'address'] },
  { name: 'source_text', key: ['domain_id', 'month', 'id'] },
  { name: 'undetailed_report', key: ['domain_id', 'day', 'report_seq'] },
  { name: 'domain_receipt', key: ['domain_id', 'day'] },
  { name: 'source_name', key: ['domain_id', 'address'] },
  { name: 'source_mark', key: ['domain_id', 'address'] },
  { name: 'dns_record', key: ['domain_id', 'record_type'] },
  { name: 'list_month', key: ['list_id', 'month'] },
  { name: 'list_day', key: ['list_id', 'day'] },
  { name: 'list_point', key: ['list_id', 'position'] },
  { name: 'list_gap', key: ['list_id', 'position'] },
  { name: 'list_gap_block', key: ['list_id', 'block'] },
  { name: 'alert', key: ['seq'] },
  { name: 'person', key: ['id'] },
  { name: 'session', key: ['id'] },
  { name: 'one_time_link', key: ['sha256'] },
  { name: 'second_factor', key: ['person_id'] },
  { name: 'recovery_code', key: ['person_id', 'sha256'] },
  { name: 'pending_sign_in', key: ['sha256'] },
  { name: 'audit', key: ['seq'] },
  { name: 'inbox_mail', key: ['seq'] },
  { name: 'inbox_part', key: ['mail_id', 'part'] },
  { name: 'door_state', key: ['door'] },
];

/**
 * The tables that stay behind: leases belong to processes of the old database.
 *
 * @internal
 */
export const NOT_MOVED: readonly string[] = ['lease'];
