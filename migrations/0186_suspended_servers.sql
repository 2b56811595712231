-- Of a server whose service is suspended: whether it was on before, and is switched on again afterwards; null: not suspended, or not looked at yet.
alter table servers add column was_on boolean;

-- A room sees to it that these are off: nobody has to by hand.
delete from service_tasks t using services s where s.id = t.service_id and s.on_server and t.task = 'suspend';

-- Which of the passwords that we make for this BMC it has; 0: one that somebody gave.
alter table server_bmcs add column password_no integer not null default 0;
