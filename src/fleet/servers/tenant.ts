import { type Context, statement, type TxContext } from '../../platform/index.ts';

const note = statement<never, { serverId: number; serviceId: number }>(
  'fleet.noteTenant',
  'update servers set tenant_service_id = :serviceId where id = :serverId',
);
const noteInstalled = statement<never, { serverId: number }>(
  'fleet.noteInstalledTenant',
  `update servers set tenant_service_id = coalesce(service_id, move_service_id)
   where id = :serverId and state in ('held', 'rented') and coalesce(service_id, move_service_id) is distinct from tenant_service_id`,
);
const forget = statement<never, { serverId: number }>(
  'fleet.forgetTenant',
  'update servers set tenant_service_id = null where id = :serverId',
);
const tenantOf = statement<{ service_id: number | null }, { serverId: number }>(
  'fleet.tenantOfServer',
  'select tenant_service_id as service_id from servers where id = :serverId',
);
const leftUnwiped = statement<{ id: number }, { serviceId: number }>(
  'fleet.serverLeftUnwiped',
  'select id from servers where unwiped_service_id = :serviceId and tenant_service_id = :serviceId limit 1',
);

/** A service has that server from now on: whatever is on its disks later may be its customer's, until it was wiped. */
export async function noteTenant(tx: TxContext, serverId: number, serviceId: number): Promise<void> {
  await tx.db.run(note, { serverId, serviceId });
}

/** What is installed for the service that holds or has the server is on its disks by now, with the keys and names of its customer. */
export async function noteInstalledTenant(tx: TxContext, serverId: number): Promise<void> {
  await tx.db.run(noteInstalled, { serverId });
}

/** Each of its disks was wiped. */
export async function forgetTenant(tx: TxContext, serverId: number): Promise<void> {
  await tx.db.run(forget, { serverId });
}

/** Whether a service has had this server since it was wiped last, and not only held it. */
export async function isTenant(ctx: Context, serverId: number, serviceId: number): Promise<boolean> {
  return (await ctx.db.maybe(tenantOf, { serverId }))?.service_id === serviceId;
}

/** Whether a server that a service has had was set aside before it was wiped, and nothing is at that any more. */
export async function isLeftUnwipedBy(ctx: Context, serviceId: number): Promise<boolean> {
  return (await ctx.db.maybe(leftUnwiped, { serviceId })) !== null;
}
