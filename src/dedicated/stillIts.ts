import { serverOfService } from '../fleet/index.ts';
import type { Context } from '../platform/index.ts';

/** Whether a service still has this server: staff may have taken it away while its job stood still, and it may be somebody else's since. */
export async function isStillIts(ctx: Context, serviceId: number, serverId: number): Promise<boolean> {
  return (await serverOfService(ctx, serviceId))?.id === serverId;
}

/** Nothing is done to a server that is not the service's any more; `permanent`. */
export async function requireStillIts(ctx: Context, serviceId: number, serverId: number): Promise<void> {
  if (await isStillIts(ctx, serviceId, serverId)) return;
  const message = `the server ${serverId} is not that of the service ${serviceId} any more`;
  throw Object.assign(new Error(message), { code: 'server_taken_away', permanent: true });
}
