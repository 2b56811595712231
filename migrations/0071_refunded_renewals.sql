-- What a renewal for another cycle changed: a refund of all of it brings that back. Null where it changed nothing.
alter table service_renewals add column cycle_before text, add column price_before_minor bigint;
