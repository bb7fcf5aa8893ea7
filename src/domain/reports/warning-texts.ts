/** Every deviation that is tolerated, with a sentence for the person who sees the report. */
const WARNINGS = {
  gzip_truncated: 'The gzip data ends early; what could be unpacked was read.',
  gzip_bad_checksum: 'The gzip checksum does not match the data.',
  gzip_several_members: 'The gzip data has several members, which were joined.',
  bytes_around_archive: 'There are other bytes before or behind the archive.',
  misspelt_content_type: 'A mail header is spelt "ContentType" and was read as Content-Type.',

  unknown_encoding: 'The declared encoding is not known; the text was read as UTF-8.',
  unreadable_characters: 'Some bytes are not valid in the encoding and were read as U+FFFD.',
  forbidden_characters: 'Characters that XML forbids were replaced by U+FFFD.',
  bare_ampersand: 'An ampersand was not escaped and was taken literally.',
  blank_before_declaration: 'There are blanks before the XML declaration.',
  stray_schema_tag: 'A stray schema tag around the report was dropped.',
  text_before_report: 'What precedes the report was cut off.',
  text_after_report: 'What follows the end of the report was cut off.',

  repeated_element: 'An element that may occur once occurs again; the first was taken.',
  long_list: 'A list has too many entries, or too much text; the rest was dropped.',
  long_value: 'A value is longer than its limit and was cut.',
  records_cut:
    'The input holds so much that only its largest records were kept; the totals are exact.',

  repeated_content:
    'The reporter has sent the same content under another report id: its messages count twice.',
  missing_org_name: 'The reporting organisation has no name.',
  missing_email: 'The reporter gives no e-mail address.',
  invalid_email: "The reporter's e-mail address is not an address.",
  missing_report_id: 'The report has no id.',
  misspelt_date_range: 'The element date_range is spelt "data_range".',
  millisecond_dates: 'The dates are in milliseconds and were read as seconds.',
  reversed_dates: 'The report begins after it ends.',
  long_window: 'The report covers 27 hours or more.',
  early_begin: 'The report begins before 2012, when there was no DMARC.',
  future_begin: 'The report begins in the future.',

  unknown_policy_word: 'The published policy has a word that the standards do not know.',
  public_suffix_policy: 'The policy is that of a public suffix, such as a top-level domain.',
  invalid_pct: 'pct is not a number from 0 to 100.',

  no_records: 'The report has no records.',
  empty_record: 'A blank placeholder record was dropped.',
  missing_source_ip: 'A record has no source address.',
  invalid_source_ip: "A record's source is not an IP address.",
  missing_count: 'A count is missing; it was taken as 0, or as what else the report says.',
  invalid_count: 'A count is not a whole number of 0 or more; it was read as if it were missing.',
  missing_policy_evaluated: 'A record has no policy_evaluated: its alignment is not stated.',
  missing_evaluated_result: 'A record leaves out whether DKIM or SPF was aligned.',
  unknown_evaluated_result: 'An evaluated result is neither pass nor fail; it is not a pass.',
  missing_disposition: 'A record does not say what was done with the messages.',
  reason_as_text: 'The type of an override reason is the text of the element itself.',
  unknown_disposition: 'A disposition is a word that the standards do not know.',
  misspelt_identifiers: 'The element identifiers is spelt "identities".',
  missing_header_from: 'A record has no header_from.',
  unknown_auth_result: 'An SPF or DKIM result is a word that the standards do not know.',

  not_a_list: 'One value is where a list should be, and was read as its only entry.',
  unreadable_entry: 'An entry of a list is not what it should be and was dropped.',
  date_without_zone: 'The dates have no time zone and were read as UTC.',
  date_only: 'The dates have no time and were read as whole days.',
  numeric_date: 'The dates are numbers and were read as seconds since 1970.',
  missing_policy_domain: 'A policy does not say of which domain it is.',
  domain_differs: 'Its mail or its name has another domain than the report.',
  no_policies: 'The report has no policies.',
  flat_policy: 'A policy has its values beside its sessions.',
  unknown_policy_type: 'A policy is of a type that the standard does not know.',
  missing_policy_type: 'A policy does not say of which type it is.',
  missing_summary: 'A policy has no totals; those of its failures were taken.',
  failures_without_details: 'Sessions failed, and the report does not say why.',
  counts_differ: 'A policy counts no failed sessions and lists some; these were taken.',
  unknown_result_type: 'A failure is of a type that the standard does not know.',
  missing_result_type: 'A failure does not say of which type it is.',
  invalid_ip: 'An address of a failure is not an IP address.',
} as const satisfies Record<string, string>;

export type WarningCode = keyof typeof WARNINGS;

/** The sentence for a warning's code; undefined for a code of another version. */
export function toWarningText(code: string): string | undefined {
  return Object.hasOwn(WARNINGS, code) ? WARNINGS[code as WarningCode] : undefined;
}
