import { statement, type TxContext } from '../../platform/index.ts';
import { partOf } from '../analytics/parts.ts';
import { type AddressFlows, type MinuteFlows, mostFlows } from './minute.ts';
import { pack } from './pack.ts';
import { thin } from './thin.ts';

const keep = statement<
  never,
  {
    part: number;
    time: Date;
    addresses: string[];
    organizations: number[];
    counts: number[];
    flows: Buffer[];
  }
>(
  'shield.keepFlows',
  `insert into shield_flows (part, address, time, organization_id, count, flows)
   select :part, w.address, :time, w.organization_id, w.count, w.flows
   from unnest(:addresses::inet[], :organizations::bigint[], :counts::int[], :flows::bytea[])
     as w(address, organization_id, count, flows) order by w.address, w.organization_id
   on conflict do nothing`,
);

/** The flows of an address within a minute as they are kept. */
export interface PackedFlows {
  address: string;
  organizationId: number;
  count: number;
  bytes: Buffer;
}

/** Each takes memory of its own meanwhile. */
const packedAtOnce = 32;

/** Takes a tenth of the memory that the minute does. */
export async function packMinute(minute: MinuteFlows): Promise<PackedFlows[]> {
  const all = [...minute.values()];
  const packed: PackedFlows[] = [];
  for (let at = 0; at < all.length; at += packedAtOnce)
    packed.push(...(await Promise.all(all.slice(at, at + packedAtOnce).map(packOne))));
  return packed;
}

async function packOne({ address, organizationId, family, flows }: AddressFlows): Promise<PackedFlows> {
  const kept = thin(flows, mostFlows);
  return { address, organizationId, count: kept.size, bytes: await pack(kept, family) };
}

/** Rows of one statement: some megabytes at most. */
const writtenAtOnce = 200;

/** Writes down the flows of a minute, a row for each address. Written again it changes nothing. */
export async function keepFlows(tx: TxContext, time: Date, packed: readonly PackedFlows[]): Promise<void> {
  for (let at = 0; at < packed.length; at += writtenAtOnce) {
    const some = packed.slice(at, at + writtenAtOnce);
    await tx.db.run(keep, {
      ...{ part: partOf('flows', time), time },
      addresses: some.map(({ address }) => address),
      organizations: some.map(({ organizationId }) => organizationId),
      counts: some.map(({ count }) => count),
      flows: some.map(({ bytes }) => bytes),
    });
  }
}
