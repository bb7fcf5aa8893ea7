-- Divides reports and their conflicts by the month in which the report's window begins (docs/operate/scale.md), in
-- one transaction, with PostgreSQL alone:
--   psql "$PLUMBLINE_DATABASE" --set ON_ERROR_STOP=1 --file months.sql
-- Stop every process of Plumbline first. The rows are copied once, so the disk needs room for both copies.
begin;

-- A unique constraint has to contain the column that a table is divided by, and so does what refers to it.
alter table conflict drop constraint conflict_report;
alter table report drop constraint report_id_key;
alter table report add unique (id, domain_seq, begin_date);
alter table conflict add constraint conflict_report
  foreign key (report_id, domain_seq, begin_date) references report (id, domain_seq, begin_date)
  deferrable initially deferred;

-- Foreign keys are made again at the end, when the tables that they name are the divided ones.
create temporary table reference on commit drop as
  select conrelid::regclass::text as name, conname, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and conrelid in ('report'::regclass, 'conflict'::regclass);

do $$
declare
  reference record;
  divided text;
  month timestamptz;
  numbers text;
  last bigint;
  used boolean;
begin
  set local time zone 'UTC';
  for reference in select * from reference loop
    execute format('alter table %I drop constraint %I', reference.name, reference.conname);
  end loop;
  foreach divided in array array['report', 'conflict'] loop
    execute format('alter table %I rename to %I', divided, divided || '_whole');
    execute format('create table %I (like %I including all) partition by range (begin_date)',
      divided, divided || '_whole');
    -- What is in no month below: reporters' clocks can be wrong by any time.
    execute format('create table %I partition of %I default', divided || '_rest', divided);
    for month in select generate_series(date_trunc('month', now()) - interval '3 years',
        date_trunc('month', now()) + interval '1 year', interval '1 month') loop
      execute format('create table %I partition of %I for values from (%L) to (%L)',
        divided || to_char(month, '_YYYY_MM'), divided, month, month + interval '1 month');
    end loop;
    execute format('insert into %I select * from %I', divided, divided || '_whole');
    -- The numbers go on where they were.
    numbers := pg_get_serial_sequence(divided || '_whole', 'seq');
    execute format('select last_value, is_called from %s', numbers) into last, used;
    perform setval(pg_get_serial_sequence(divided, 'seq'), last, used);
    execute format('drop table %I', divided || '_whole');
    execute format('analyze %I', divided);
  end loop;
  for reference in select * from reference loop
    execute format('alter table %I add constraint %I %s', reference.name, reference.conname, reference.definition);
  end loop;
end $$;

commit;
