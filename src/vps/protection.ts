import { statement } from '../platform/index.ts';
import type { EndingGuard } from '../services/index.ts';

const protectedFrom = statement<{ protect_delete: boolean }, { serviceId: number }>(
  'vps.deleteProtection',
  'select protect_delete from machines where service_id = :serviceId',
);

/** Whoever protects a machine from being deleted is asked to turn that off before its service is cancelled. */
export const deleteProtection: EndingGuard = async (ctx, serviceId) => {
  const machine = await ctx.db.maybe(protectedFrom, { serviceId });
  if (machine?.protect_delete !== true) return null;
  return 'The machine is protected from being deleted: turn protection.delete off in its settings first';
};
