-- Divides reports and conflicts over the servers of a Citus cluster (docs/operate/scale.md), in one transaction, by the
-- domain's number. Each server has a copy of accounts and domains; all other tables stay on the coordinator:
--   psql "$PLUMBLINE_DATABASE" --set ON_ERROR_STOP=1 --file citus.sql
-- Stop every process of Plumbline first. The rows are copied once. Running it again changes nothing.
begin;

set local client_min_messages = warning;
-- All tables are made by one connection, because they refer to one another.
set local citus.multi_shard_modify_mode = 'sequential';

do $$
begin
  if exists (select from pg_dist_partition where logicalrelid = 'report'::regclass) then
    return;
  end if;
  -- A unique constraint has to contain the column that a table is divided by, and so does what refers to it.
  alter table conflict drop constraint conflict_report;
  alter table report drop constraint report_id_key;
  alter table report drop constraint report_domain_seq_fkey;
  alter table report add unique (id, domain_seq, begin_date);
  perform create_reference_table('account');
  perform create_reference_table('domain');
  perform create_distributed_table('report', 'domain_seq');
  perform create_distributed_table('conflict', 'domain_seq', colocate_with := 'report');
  alter table report add foreign key (domain_seq) references domain (seq);
  alter table conflict add constraint conflict_report
    foreign key (report_id, domain_seq, begin_date) references report (id, domain_seq, begin_date)
    deferrable initially deferred;
  -- A row on each shard, by which all servers can be asked.
  create table every_shard (domain_seq integer primary key);
  perform create_distributed_table('every_shard', 'domain_seq', colocate_with := 'report');
  insert into every_shard select min(n) from generate_series(1, 100 * (select count(*) from pg_dist_shard
    where logicalrelid = 'report'::regclass)::integer) as n group by get_shard_id_for_distribution_column('every_shard', n);
  -- What the copies were made from.
  perform truncate_local_data_after_distributing_table(name::regclass)
    from unnest(array['conflict', 'report', 'domain', 'account']) as name;
end $$;

-- A transaction that has asked several servers may go on to change a table that each has; and of a join with a table of the
-- coordinator the rows of the divided one are fetched.
do $$ begin
  execute format('alter database %I set citus.multi_shard_modify_mode = ''sequential''', current_database());
  execute format('alter database %I set citus.local_table_join_policy = ''prefer-distributed''', current_database());
end $$;

-- A domain's number never changes, so Citus may compute it while it plans, and asks one server. 0 is no domain's: Citus
-- refuses some statements that have no condition left, as with null.
create or replace function domain_seq(uuid) returns integer language plpgsql immutable strict parallel safe
  set citus.allow_nested_distributed_execution = on
  as $$ begin return coalesce((select seq from public.domain where id = $1), 0); end $$;

commit;
