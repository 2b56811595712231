-- Which attacks have been over for longer than they are kept.
create index shield_attacks_over on shield_attacks (closed_at) where closed_at is not null;
-- What was counted is for whoever goes on.
update shield_attacks set counted = '{}' where ended_at is not null;
