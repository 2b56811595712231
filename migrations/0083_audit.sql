-- What somebody of staff did: few entries of many, so few are in the index.
create index journal_staff on journal (user_id, id desc) where actor_type = 'staff';
