-- Whoever asks for an action is told of one that waits for the machine's lock: it comes first.

create index vps_actions_waiting on vps_actions (service_id) where waits;
