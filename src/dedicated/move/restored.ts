import { isHeldForMove, isServerOn, ServerFailure, serverName, serverOfService } from '../../fleet/index.ts';
import type { Run } from '../../platform/index.ts';
import { addressesOf } from '../reinstall/reinstall.ts';
import { calledOff, mayRun, restoredSince } from '../work.ts';
import type { MovePayload } from './move.ts';

/** Code of a move of which nobody can say where it has come to since the backup. */
const restoredUnclear = 'restored_unclear';

/**
 * A move that a backup brought back may have come to its end since, have failed, or stand where it stood; either server may be somebody else's. So nothing is switched,
 * installed or plugged by it any more: what is seen of both decides. Returns when the service is on the new one in truth, which only has to be written down. Otherwise it
 * throws: the service is still on the one before, and nothing is to be done (`unwanted`); or nobody can say, and a person has to look (`permanent`).
 */
export async function requireWentOver<S>(run: Run<MovePayload, S>): Promise<void> {
  const { ctx, drivers, payload } = run;
  const { serviceId, serverId: fromId, toServerId: toId } = payload;
  const has = await serverOfService(ctx, serviceId);
  const isGoing = has?.id === fromId && has.state === 'rented' && (await mayRun(ctx, payload));
  if (!isGoing || !(await isHeldForMove(ctx, toId, serviceId)))
    throw ends(calledOff, 'the service may not be used any more, or one of the two servers was taken away');
  const [from, to] = [await powerOf(run, fromId), await powerOf(run, toId)];
  const [first] = await addressesOf(ctx, serviceId);
  const greets = first !== undefined && (await drivers.greets(first.address));
  const isLeft = from === 'off' || (from === 'silent' && payload.isUnplugged);
  if (to === 'on' && isLeft && greets) return;
  const [before, after] = [await serverName(ctx, fromId), await serverName(ctx, toId)];
  if (from === 'on' && to === 'off')
    throw ends(
      restoredSince,
      `the database was restored meanwhile, and the service is on ${before} still: ask for the move anew`,
    );
  const message =
    `the database was restored while the service was on its way, and nobody can say on which server it is: ${before} is ${from}, ${after} is ${to}, and ` +
    `${greets ? 'something greets' : 'nothing greets'} by SSH at ${first?.address ?? 'its address'}. Look which of them has what its customer needs, by their disks and their power. ` +
    `Have that one on and the other one off, and retry this job: it switches and wipes nothing, and writes down where the service is. Where it is on ${before}, and ${after} cannot be ` +
    `switched off because it is somebody’s, put ${after} into quarantine and retry. The VLANs of their ports stay as they are: look at them as well`;
  throw Object.assign(new Error(message), { code: restoredUnclear, permanent: true });
}

function ends(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, permanent: true, unwanted: true });
}

async function powerOf<S>(run: Run<MovePayload, S>, serverId: number): Promise<'on' | 'off' | 'silent'> {
  try {
    return (await isServerOn(run, serverId)) ? 'on' : 'off';
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    return 'silent';
  }
}
