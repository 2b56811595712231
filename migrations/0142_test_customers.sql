-- Who was made known to a payment provider in its test mode; null of those from before.
alter table provider_customers add column is_test boolean;
