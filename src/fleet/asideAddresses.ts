import { statement, type TxContext } from '../platform/index.ts';

const keep = statement<never, { addresses: string[]; note: string }>(
  'fleet.keepAsideAddresses',
  `insert into addresses (address, pool_id, state, note)
     select a.address, p.id, 'reserved', :note from unnest(:addresses::inet[]) as a (address)
     join address_pools p on a.address << p.network and a.address <> p.gateway
   on conflict (address) do update set state = 'reserved', note = excluded.note, rests_until = null
   where addresses.state in ('free', 'resting')`,
);
const letRest = statement<never, { note: string; now: Date }>(
  'fleet.restAsideAddresses',
  `update addresses a set state = 'resting', note = null,
     rests_until = :now::timestamptz + make_interval(hours => p.rest_hours)
   from address_pools p where p.id = a.pool_id and a.state = 'reserved' and a.note = :note`,
);

/** Keeps addresses from being given to anybody, for as long as somebody may be using them; those in use stay. */
export async function keepAddressesAside(tx: TxContext, addresses: string[], note: string): Promise<void> {
  if (addresses.length > 0) await tx.db.run(keep, { addresses, note });
}

/** Ends {@link keepAddressesAside}: they rest like any that a machine has used. */
export async function endAddressesAside(tx: TxContext, note: string): Promise<void> {
  await tx.db.run(letRest, { note, now: tx.clock.now() });
}
