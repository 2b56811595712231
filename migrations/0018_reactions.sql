-- Reactions to events have jobs of their own names now; what waits or failed under the old ones is carried over.

update jobs j set
  name = case j.name
    when 'invoice.paid' then 'services.deliverPaid'
    when 'invoice.expired' then 'services.giveBackExpired'
    else 'services.takeBackRefunded' end,
  payload = jsonb_build_object(
    'journalId', (select max(e.id) from journal e
      where e.subject_type = 'invoice' and e.subject_id = (j.payload->>'invoiceId')::bigint and e.action = j.name),
    'subject', jsonb_build_object('type', 'invoice', 'id', (j.payload->>'invoiceId')::bigint),
    'organizationId', j.organization_id,
    'data', coalesce((select e.data from journal e
      where e.subject_type = 'invoice' and e.subject_id = (j.payload->>'invoiceId')::bigint and e.action = j.name
      order by e.id desc limit 1), '{}'))
where j.name in ('invoice.paid', 'invoice.expired', 'invoice.refunded') and j.state <> 'done';
