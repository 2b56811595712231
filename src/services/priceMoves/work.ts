import { systemActor, type TxContext } from '../../platform/index.ts';
import { gather } from './gather.ts';
import { takeBack } from './takeBack.ts';
import { checkNotices, tell } from './tell.ts';

/**
 * Carries moves of prices out, a batch in each transaction: services are gathered, what was revoked is taken back,
 * customers are told, and it is found out whose mail was sent. That a new price counts is the renewal's business.
 * However often it runs, each service is gathered once, and each customer told once of each move.
 */
export async function carryOutPriceMoves(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  return (await takeBack(tx)) ?? (await gather(tx)) ?? (await tell(tx)) ?? (await checkNotices(tx)) ?? 'done';
}
