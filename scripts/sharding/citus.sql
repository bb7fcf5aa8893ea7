-- Distributes the large tables over the nodes of a Citus cluster (docs/scaling.md, “Shards”), in one transaction:
--   psql "$PLUMBLINE_DATABASE" --set ON_ERROR_STOP=1 --file scripts/sharding/citus.sql
-- Stop every process of Plumbline first. Run on the coordinator, once, with Citus 12 or newer and its extension
-- created. What has no line here stays a table of the coordinator.
begin;

create temporary table distribution (name text, by text) on commit drop;
insert into distribution values
  ('report', 'domain_id'),
  ('conflict', 'domain_id'),
  ('domain_day', 'domain_id'),
  ('alert_day', 'domain_id'),
  ('domain_receipt', 'domain_id'),
  ('dns_record', 'domain_id'),
  ('source_name', 'domain_id'),
  ('source_mark', 'domain_id'),
  ('list_point', 'list_id'),
  ('list_gap', 'list_id'),
  ('list_day', 'list_id'),
  ('document', 'input_sha256'),
  ('document_part', 'document_seq');

-- A foreign key is only possible between tables that are distributed by the same column.
do $$
declare found record;
begin
  for found in
    select conrelid::regclass as owner, conname from pg_constraint
    where contype = 'f' and (
      conrelid in (select name::regclass from distribution) or confrelid in (select name::regclass from distribution))
  loop
    execute format('alter table %s drop constraint %I', found.owner, found.conname);
  end loop;
end $$;

-- A unique constraint has to contain the column that a table is distributed by.
do $$
begin
  execute (
    select format('alter table document drop constraint %I', conname) from pg_constraint
    where contype = 'p' and conrelid = 'document'::regclass);
end $$;
alter table document add primary key (input_sha256, seq);
alter table report drop constraint report_id_key;
alter table report add unique (id, domain_id, begin_date);
create index document_seq on document (seq);

select create_distributed_table(name::regclass, by, colocate_with => 'none')
  from distribution where name in ('document', 'document_part');
select create_distributed_table('report'::regclass, 'domain_id', colocate_with => 'none');
select create_distributed_table(name::regclass, by, colocate_with => 'report')
  from distribution where by in ('domain_id', 'list_id') and name <> 'report';

-- A conflict is on the node of its report.
alter table conflict add constraint conflict_report
  foreign key (report_id, domain_id, begin_date) references report (id, domain_id, begin_date);

commit;
