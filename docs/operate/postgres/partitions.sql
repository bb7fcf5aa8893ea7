-- Divides the tables whose keys lead with the domain or the list into 16 partitions each (docs/operate/scale.md), in one
-- transaction, with PostgreSQL alone:
--   psql "$PLUMBLINE_DATABASE" --set ON_ERROR_STOP=1 --file partitions.sql
-- Stop every process of Plumbline first. The rows are copied once, so the disk needs room for both copies.
begin;

create temporary table division (name text, owner text) on commit drop;
insert into division values
  ('report', 'domain_seq'),
  ('conflict', 'domain_seq'),
  ('domain_day', 'domain_id'),
  ('list_day', 'list_id');

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
  from pg_constraint where contype = 'f' and conrelid in (select name::regclass from division);

do $$
declare
  divided record;
  reference record;
  numbers text;
  last bigint;
  used boolean;
begin
  for reference in select * from reference loop
    execute format('alter table %I drop constraint %I', reference.name, reference.conname);
  end loop;
  for divided in select * from division loop
    execute format('alter table %I rename to %I', divided.name, divided.name || '_whole');
    execute format('create table %I (like %I including all) partition by hash (%I)',
      divided.name, divided.name || '_whole', divided.owner);
    for i in 0..15 loop
      execute format('create table %I partition of %I for values with (modulus 16, remainder %s)',
        divided.name || '_' || i, divided.name, i);
    end loop;
    execute format('insert into %I select * from %I', divided.name, divided.name || '_whole');
    -- The numbers go on where they were.
    if divided.name in ('report', 'conflict') then
      numbers := pg_get_serial_sequence(divided.name || '_whole', 'seq');
      execute format('select last_value, is_called from %s', numbers) into last, used;
      perform setval(pg_get_serial_sequence(divided.name, 'seq'), last, used);
    end if;
    execute format('drop table %I', divided.name || '_whole');
    execute format('analyze %I', divided.name);
  end loop;
  for reference in select * from reference loop
    execute format('alter table %I add constraint %I %s', reference.name, reference.conname, reference.definition);
  end loop;
end $$;

commit;
