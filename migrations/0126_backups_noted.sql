-- When a backup of this installation was last made: staff is told while there is none.
alter table installation add column backed_up_at timestamptz;
