import { dial, ownProcess } from '../../../consoles/index.ts';
import { type Context, fail } from '../../../platform/index.ts';
import { findHolder } from './holders.ts';
import { watchHolder } from './lines.ts';

/** Two signs of life of a holder are a second apart. */
const lookForMs = 1_500;

/**
 * Refuses the line of a machine that another process holds which lives and cannot be reached from here, before a ticket is given:
 * `driver_absent`.
 */
export async function requireJoinable(ctx: Context, serviceId: number): Promise<void> {
  const holder = await findHolder(ctx, serviceId);
  if (holder === null || holder.holder === ownProcess(ctx.config)) return;
  const line = await dial(ctx, { serviceId, what: 'line' }, holder);
  if (line !== null) return void line.destroy();
  // A dead one's line is taken over by whoever comes with the ticket.
  if ((await watchHolder(ctx, serviceId, holder, lookForMs)) !== 'lives') return;
  const message =
    'Another process has the serial line of this machine and is not reached by the one that answers here; send this request to that one, or try again once nobody looks at the line there';
  throw fail('driver_absent', { message });
}
