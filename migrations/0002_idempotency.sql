-- Answers to POST requests that carried an Idempotency-Key, for a day, so that a repeated request gets the
-- same answer instead of a second effect. Written in the transaction of the effect itself.
create table idempotency_keys (
  -- SHA-256 of who (user, organization), what (method, path) and the key: the key itself is not kept.
  scope bytea primary key,
  -- Keyed fingerprint of key, query and body: a password in a body cannot be guessed from it.
  request_hash bytea not null,
  user_id bigint not null,
  -- The JSON that was sent, sealed: some answers show a secret, once.
  answer bytea not null,
  created_at timestamptz not null
);

create index idempotency_keys_created_at on idempotency_keys (created_at);
create index idempotency_keys_user_id on idempotency_keys (user_id);
