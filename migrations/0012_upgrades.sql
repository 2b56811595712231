-- Upgrades: when the period that is paid for began, and what was asked for a change of size.

-- First day of the newest period. The due date alone does not tell it: 28 February follows four days of January.
alter table services add column period_start date;

alter table service_upgrades
  add column charge_minor bigint not null default 0 check (charge_minor >= 0),
  add column credit_minor bigint not null default 0 check (credit_minor >= 0);
comment on column service_upgrades.options is 'Only the options that change.';
