-- What was signed when the disks of a service's server were wiped, and the key that it verifies with: what is said of them stays as it was said.
create table erasure_proofs (
  service_id bigint primary key references services,
  organization_id bigint not null references organizations,
  assignment_id bigint not null,
  -- A JSON web signature (RFC 7515), compact.
  jws text not null,
  key_id text not null,
  -- An Ed25519 key as a JSON web key (RFC 8037).
  public_key jsonb not null,
  signed_at timestamptz not null
);
create index erasure_proofs_organization on erasure_proofs (organization_id);
create index erasure_proofs_key on erasure_proofs (key_id);
