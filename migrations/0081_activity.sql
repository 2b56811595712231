-- An organization's activity, newest first, all of it, of one kind, or of one person: each is a range of an index, however
-- much there is.
create index journal_activity on journal (organization_id, created_at, id);
create index journal_activity_of_kind on journal (organization_id, action, created_at, id);
create index journal_activity_of_person on journal (organization_id, user_id, created_at, id);
drop index journal_organization;
