import { findHeldRestore, statement, systemActor, type TxContext } from '../../platform/index.ts';
import { gather } from './gather.ts';
import { takeBack } from './takeBack.ts';
import { checkNotices, tell } from './tell.ts';

/** When {@link carryOutPriceMoves} has something to do. */
export const nextOfPriceMoves = statement<{ at: Date | null }, { now: Date }>(
  'services.nextOfPriceMoves',
  `select case when exists (select 1 from price_moves where revoked_at is not null and not taken_back)
     or exists (select 1 from price_moves where gathered_at is null and revoked_at is null) then :now::timestamptz
     else least((select min(look_at) from service_price_moves where state = 'waiting'),
       (select min(look_at) from service_price_moves where state = 'telling')) end as at`,
);

/**
 * Carries moves of prices out, a batch in each transaction: services are gathered, what was revoked is taken back,
 * customers are told, and it is found out whose mail was sent. That a new price counts is the renewal's business.
 * However often it runs, each service is gathered once, and each customer told once of each move. After a restore nobody is told of
 * a new price until staff has released it: the move may have been revoked since the backup, or told already. What is taken back, and
 * whose mail was sent, costs nobody anything.
 */
export async function carryOutPriceMoves(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  const takenBack = await takeBack(tx);
  if (takenBack !== null) return takenBack;
  const isHeld = (await findHeldRestore(tx)) !== null;
  const told = isHeld ? null : ((await gather(tx)) ?? (await tell(tx)));
  return told ?? (await checkNotices(tx)) ?? 'done';
}
