-- What belongs to this installation as a whole, in its only row.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- A keyed fingerprint of the secret key: a start with another key is refused.
  key_fingerprint bytea not null
);
