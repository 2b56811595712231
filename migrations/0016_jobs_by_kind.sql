-- Workers ask for the ready jobs of the kinds of one lane: what waits in another lane must not be walked past.
drop index jobs_ready;
create index jobs_ready on jobs (name, run_at, id) where state = 'ready';
