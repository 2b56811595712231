-- What the units of a service were sold for, so that giving some up takes off what they cost, and not what the
-- catalogue says on that day. {"option1": [{"units", "price_minor"}]}: a month's price of each unit beyond the
-- price of the cycle, the oldest first.

alter table services add column unit_prices jsonb not null default '{}';
-- What they will be once the upgrade counts.
alter table service_upgrades add column unit_prices jsonb not null default '{}';

-- For what was sold before: today's prices, lowered together where they come to more than the service costs.
create function pg_temp.unit_prices(product bigint, options jsonb, cycle text, price_minor bigint) returns jsonb
language sql as $$
  with sold as (
    select key, (options->>key)::bigint - min as units, unit_price_minor as price
    from product_options where product_id = product and kind = 'integer'
      and jsonb_typeof(options->key) = 'number' and (options->>key)::numeric > min
    union all
    select o.key, 1, (c->>'price_minor')::bigint
    from product_options o cross join lateral jsonb_array_elements(o.choices) c
    where o.product_id = product and o.kind = 'choice' and c->>'value' = options->>o.key),
  whole as (
    select sum(units * price) * case cycle when 'monthly' then 1 when 'quarterly' then 3 when 'semiannually' then 6
      when 'annually' then 12 when 'biennially' then 24 else 36 end as minor from sold)
  select coalesce(jsonb_object_agg(key, jsonb_build_array(jsonb_build_object('units', units, 'price_minor',
    case when whole.minor > price_minor then floor(price * price_minor / whole.minor) else price end))), '{}')
  from sold, whole
$$;

update services set unit_prices = pg_temp.unit_prices(product_id, options, cycle, price_minor);
update service_upgrades u set unit_prices = pg_temp.unit_prices(s.product_id, s.options || u.options, s.cycle, u.price_minor)
from services s where s.id = u.service_id and u.state = 'waiting';
