import { disksOf, missingDisks, requireOrderedImage, serverSystemOf, usualLayoutOf } from '../fleet/index.ts';
import type { Context } from '../platform/index.ts';
import { unfit } from './faults.ts';

/** The operating system of that slug, and where it goes on a server that nobody has yet. What is wrong with the server is its own fault (`server_unfit`). */
export async function placeOn(ctx: Context, serverId: number, os: string) {
  const disks = await disksOf(ctx, serverId);
  const system = serverSystemOf(await requireOrderedImage(ctx, os));
  if (system === null)
    throw Object.assign(new Error(`${os} is no system for servers any more`), { permanent: true });
  const layout = usualLayoutOf(system, disks);
  if (layout === null) throw unfit('no disk of it was measured');
  const missing = await missingDisks(ctx, serverId);
  if (missing > 0) throw unfit(`it lacks ${missing} of the disks that its profile says`);
  return { disks, system, layout };
}
