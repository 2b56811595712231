import { statement, type TxContext } from '../../platform/index.ts';
import { endAddressesAside, keepAddressesAside } from '../asideAddresses.ts';

const powerOf = statement<{ power: 'on' | 'off' | null }, { serverId: number }>(
  'fleet.lockHeardPower',
  'select power from server_bmcs where server_id = :serverId for no key update',
);

const noteOf = (serverId: number) =>
  `the server ${serverId} may still run with it: its BMC has not said since that it is off`;

/** Whether nobody knows that a server is off: its BMC said otherwise last, or nothing. What is heard of it next waits until the transaction ends. */
export async function mayBeOn(tx: TxContext, serverId: number): Promise<boolean> {
  return (await tx.db.maybe(powerOf, { serverId }))?.power !== 'off';
}

/** A server may go on using these addresses, which nobody has any more: nobody gets them before it is heard to be off, or is retired; then they rest. */
export async function keepFromOthers(tx: TxContext, serverId: number, addresses: string[]): Promise<void> {
  await keepAddressesAside(tx, addresses, noteOf(serverId));
}

/** It is off, or is no server of ours any more. */
export async function usesNone(tx: TxContext, serverId: number): Promise<void> {
  await endAddressesAside(tx, noteOf(serverId));
}
