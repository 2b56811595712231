-- Addresses that no mail reaches, as a mail server said of one mail.
create table bounced_addresses (
  address text primary key check (address = lower(address)),
  mail_id bigint not null,
  reason text not null,
  bounced_at timestamptz not null
);
