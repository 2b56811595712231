-- Consoles of servers: a ticket says which server it opens; one of staff is of no organization.
alter table console_tickets
  alter column organization_id drop not null,
  alter column service_id drop not null,
  add column server_id bigint references servers,
  add check (service_id is not null or server_id is not null),
  add check ((organization_id is null) = (service_id is null));
create index console_tickets_server on console_tickets (server_id);

-- Whose the serial line of a server is: its BMC lets one in, and whoever opens it takes it over from the one before.
create table console_seats (
  server_id bigint primary key references servers,
  -- Of the ticket that it was opened with.
  ticket bytea not null,
  taken_at timestamptz not null
);

-- Whether its BMC shows its serial line; null: it was not asked yet.
alter table server_bmcs add column shows_line boolean;

-- A password of a server that the product made, until it was shown once.
create table dedicated_credentials (
  service_id bigint primary key references services,
  organization_id bigint not null,
  username text not null,
  -- Sealed; null once it was shown.
  password bytea,
  made_at timestamptz not null,
  shown_at timestamptz,
  -- A person.
  shown_to bigint,
  constraint dedicated_credentials_shown check ((password is null) = (shown_at is not null))
);
