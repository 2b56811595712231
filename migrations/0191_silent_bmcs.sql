-- Nobody answered there when it was asked last; false: somebody did, be it with a no.
alter table server_bmcs add column is_silent boolean not null default false;
