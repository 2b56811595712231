-- Looks at once at what is otherwise looked at when a transaction commits: one that is taken back would not be.
create function check_constraints() returns void language plpgsql as $$
begin
  set constraints all immediate;
end
$$;
