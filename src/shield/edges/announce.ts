import { job } from '../../platform/index.ts';
import { announceNow } from './announcer.ts';
import type { At } from './rows.ts';

/** Has the routers of an edge told what they are to be told, as it stands when the job comes to it; what fails is tried again by who looks after them. */
export const announce = job<At>(
  'shield.announce',
  async ({ ctx, drivers, payload }) => {
    await announceNow(ctx, payload, drivers.routers, { anew: true });
  },
  { attempts: 1, failed: async () => 'unwanted' },
);
