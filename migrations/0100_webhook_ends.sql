-- outside a transaction
-- What came to its end is kept for thirty days from then on.
drop index concurrently if exists webhook_deliveries_finished;
create index concurrently webhook_deliveries_finished on webhook_deliveries (finished_at, id)
  where finished_at is not null;
