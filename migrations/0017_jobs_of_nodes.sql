-- Some jobs can be done by one node alone, and some can not be brought to an end by trying again.

-- Null is anyone's. A saga may find its node on the way; home_node_id is what it was enqueued with.
alter table jobs add column node_id bigint, add column home_node_id bigint;

-- Stuck: trying again has not helped. Why, in words; the error_* columns keep what the job was turned back for.
alter table jobs add column stuck_reason text;
alter table jobs drop constraint jobs_state_check;
alter table jobs add constraint jobs_state_check check (state in ('ready', 'running', 'done', 'failed', 'stuck'));

-- What waits for a node that is away must not be walked past.
drop index jobs_ready;
create index jobs_ready on jobs (name, (coalesce(node_id, 0)), run_at, id) where state = 'ready';
drop index jobs_failed;
create index jobs_failed on jobs (finished_at desc, id desc) where state in ('failed', 'stuck');

-- Work on machines that was asked for before.
update jobs set node_id = machines.node_id, home_node_id = machines.node_id
from machines
where jobs.state in ('ready', 'running', 'failed') and jobs.name like 'vps.%' and jobs.name <> 'vps.provision'
  and machines.service_id = (jobs.payload->>'serviceId')::bigint;
