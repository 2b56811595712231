-- A service that was moved leaves more than one server behind, each with a proof of its own.
alter table erasure_proofs
  drop constraint erasure_proofs_pkey,
  add primary key (assignment_id);
create index erasure_proofs_service on erasure_proofs (service_id, assignment_id);

-- Each disk of which a proof says that it was wiped, so that staff finds it by its serial number.
create table erased_disks (
  id bigint generated always as identity primary key,
  assignment_id bigint not null references erasure_proofs,
  service_id bigint not null,
  organization_id bigint not null references organizations,
  server_id bigint not null,
  -- As it was called then.
  server text not null,
  serial text not null,
  model text,
  bytes bigint not null,
  method text,
  ended_at timestamptz not null,
  constraint erased_disks_once unique (assignment_id, serial)
);
create index erased_disks_ended on erased_disks (ended_at desc, id desc);
create index erased_disks_serial on erased_disks (lower(serial) collate "C", id);
create index erased_disks_server on erased_disks (server_id, ended_at desc, id desc);
create index erased_disks_organization on erased_disks (organization_id);

insert into erased_disks (assignment_id, service_id, organization_id, server_id, server, serial, model, bytes, method, ended_at)
select p.assignment_id, p.service_id, p.organization_id, g.server_id, s.name, d.serial, e.value ->> 'model', (e.value ->> 'bytes')::bigint,
  e.value ->> 'method', (e.value ->> 'endedAt')::timestamptz
from erasure_proofs p join server_assignments g on g.id = p.assignment_id join servers s on s.id = g.server_id
  cross join lateral jsonb_array_elements_text(g.disks) with ordinality d (serial, nth)
  join lateral jsonb_each(g.erasures) e on e.key = d.serial
order by p.assignment_id, d.nth;
