-- Divides the tables whose keys lead with the domain or the list into 16 partitions each (docs/scaling.md,
-- “Shards”), in one transaction, with PostgreSQL alone:
--   psql "$PLUMBLINE_DATABASE" --set ON_ERROR_STOP=1 --file scripts/sharding/partitions.sql
-- Stop every process of Plumbline first. The rows are copied once, so the disk needs room for both copies.
begin;

do $$
declare
  divided record;
  reference record;
begin
  for divided in
    select * from (values
      ('domain_source_ip', 'domain_id'),
      ('domain_day', 'domain_id'),
      ('domain_receipt', 'domain_id'),
      ('list_point', 'list_id'),
      ('list_gap', 'list_id'),
      ('list_gap_block', 'list_id'),
      ('list_day', 'list_id'),
      ('list_month', 'list_id')) as wanted (name, owner)
  loop
    execute format('alter table %I rename to %I', divided.name, divided.name || '_whole');
    execute format('create table %I (like %I including all) partition by hash (%I)',
      divided.name, divided.name || '_whole', divided.owner);
    for i in 0..15 loop
      execute format('create table %I partition of %I for values with (modulus 16, remainder %s)',
        divided.name || '_' || i, divided.name, i);
    end loop;
    execute format('insert into %I select * from %I', divided.name, divided.name || '_whole');
    for reference in
      select pg_get_constraintdef(oid) as definition from pg_constraint
      where contype = 'f' and conrelid = (divided.name || '_whole')::regclass
    loop
      execute format('alter table %I add %s', divided.name, reference.definition);
    end loop;
    execute format('drop table %I', divided.name || '_whole');
    execute format('analyze %I', divided.name);
  end loop;
end $$;

commit;
