-- Jobs of versions before reactions had their own did more than one thing, or their second half is another job now.
-- Under their new names (0018) they would do nothing more, so what they owed is asked for anew, from what stands in the
-- tables.

-- An upgrade of a machine whose invoice was paid, expired or refunded counts, or gives back what it held.
delete from jobs j using invoices i
where j.name in ('services.deliverPaid', 'services.giveBackExpired', 'services.takeBackRefunded') and j.state <> 'done'
  and i.id = (j.payload->'subject'->>'id')::bigint and i.kind = 'upgrade';

with owed as (
  select i.id, u.organization_id, case i.status when 'paid' then 'vps.applyUpgrade'
    when 'refunded' then 'vps.giveBackRefundedUpgrade' else 'vps.giveBackExpiredUpgrade' end as job,
    case i.status when 'paid' then 'invoice.paid' when 'refunded' then 'invoice.refunded' else 'invoice.expired' end as event
  from vps_upgrades u join invoices i on i.id = u.invoice_id
  where u.state = 'waiting' and i.status <> 'unpaid'
  union all
  -- What staff delivers by hand was left as it was; from its payment on it is under way, and in staff's list.
  select distinct i.id, i.organization_id, 'services.deliverPaid', 'invoice.paid'
  from services s join invoices i on i.id = s.invoice_id
  where s.status = 'pending' and s.provisioning_state = 'queued' and i.status = 'paid')
insert into jobs (name, organization_id, payload, run_at, created_at)
select owed.job, owed.organization_id, jsonb_build_object(
    'journalId', e.id,
    'subject', jsonb_build_object('type', 'invoice', 'id', owed.id),
    'organizationId', owed.organization_id,
    'data', coalesce(e.data, '{}')), now(), now()
from owed left join lateral (
  select id, data from journal where subject_type = 'invoice' and subject_id = owed.id and action = owed.event
  order by id desc limit 1) e on true
where not exists (select 1 from jobs j where j.name = owed.job and j.state <> 'done'
  and (j.payload->'subject'->>'id')::bigint = owed.id);

-- A mail that is written down is sent by a job of its own.
delete from jobs j where j.name = 'mail.deliver' and j.state in ('ready', 'running')
  and exists (select 1 from job_steps s where s.job_id = j.id and s.step = 'write');

insert into jobs (name, organization_id, payload, run_at, created_at)
select 'mail.send', m.organization_id, jsonb_build_object('journalId', m.journal_id), now(), now()
from mails m where m.state = 'queued' and not exists (
  select 1 from jobs j where j.name in ('mail.deliver', 'mail.send') and j.state <> 'done'
    and (j.payload->>'journalId')::bigint = m.journal_id);

-- A machine that is being made is its node's from the moment it has its place.
update jobs j set node_id = p.node_id from placements p
where j.name = 'vps.provision' and j.state in ('ready', 'running', 'stuck') and j.node_id is null
  and p.service_id = (j.payload->>'serviceId')::bigint
  and exists (select 1 from job_steps s where s.job_id = j.id and s.step = 'place' and s.state = 'done');
