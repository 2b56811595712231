import { type Context, type SealedValue, statement } from '../../platform/index.ts';
import type { NewBmc } from '../servers/bmc.ts';

export const sealedArrivals = statement<SealedValue, { limit: number }>(
  'fleet.sealedArrivals',
  `select bmc as sealed, 'bmc of machine ' || id as context from server_arrivals where bmc is not null order by id limit :limit`,
);

/** How the BMC of a machine is reached while it is enrolled, password and all. */
const contextOf = (id: number) => `bmc of machine ${id}`;

export function sealBmc({ seal }: Context, id: number, bmc: NewBmc): Buffer {
  return seal.close(JSON.stringify(bmc), contextOf(id));
}

export function openBmc({ seal }: Context, id: number, sealed: Buffer): NewBmc {
  return JSON.parse(seal.open(sealed, contextOf(id))) as NewBmc;
}
