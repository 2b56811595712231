-- A rate of a rule's own, beside rate limiters that several share.
alter table shield_rules add column rate jsonb;

-- The ports that a game profile was used with; null where it was not one.
alter table shield_groups add column ports integer[];
