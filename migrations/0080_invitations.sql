-- Who was asked to act for an organization, until they accept.

create table invitations (
  id bigint primary key,
  organization_id bigint not null references organizations,
  email text not null,
  role text not null check (role in ('admin', 'billing', 'technical', 'support', 'viewer')),
  -- SHA-256 of the token in the newest mail, which itself stands nowhere.
  hash bytea not null,
  -- How often it was sent: the token is made of this too, so that an older mail is good no more.
  sendings integer not null,
  invited_by bigint not null references users,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create unique index invitations_address on invitations (organization_id, lower(email));
create unique index invitations_hash on invitations (hash);
create index invitations_organization on invitations (organization_id, created_at, id);
create index invitations_inviter on invitations (invited_by);
create index invitations_expiry on invitations (expires_at);
