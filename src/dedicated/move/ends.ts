import {
  dropWasOn,
  isHeldForMove,
  letGoOfMove,
  readWasOn,
  serverOfService,
  setServerAside,
} from '../../fleet/index.ts';
import {
  type Context,
  enqueue,
  type Failure,
  findLastRestore,
  type TxContext,
} from '../../platform/index.ts';
import { requireOrder } from '../../services/index.ts';
import { isServersFault } from '../faults.ts';
import { resumeServer } from '../suspend/suspend.ts';
import { calledOff, endWork, verdictOn } from '../work.ts';
import type { MovePayload } from './move.ts';
import { endMove, leaveStop, readMove } from './rows.ts';

/** Steps in which the server before is asked: what goes wrong there is not the new one's. */
const ofTheOld: ReadonlySet<string> = new Set(['look', 'vlans', 'off', 'vlan']);
/** Since these whoever is to have the new server may have signed in there, and done with its BMC what they liked. */
const onceOn: ReadonlySet<string> = new Set(['start', 'ready', 'disarm', 'swap']);
/** Since these the server before is off, or goes off. */
const onceOff: ReadonlySet<string> = new Set(['off', 'vlan', 'confirm', ...onceOn]);

/** It stays where it is: what becomes of the server that it was to get, of its action, and of its power. */
export async function endFailed(
  tx: TxContext,
  payload: MovePayload,
  failure: Failure,
): Promise<'unwanted' | undefined> {
  const { toServerId, serviceId, moveId } = payload;
  const isItsFault = isServersFault(failure) && !ofTheOld.has(failure.step);
  if (await isOfBackup(tx, payload)) await letGoOfMove(tx, toServerId, serviceId);
  else if (isItsFault && (await isHeldForMove(tx, toServerId, serviceId)))
    await setServerAside(
      tx,
      toServerId,
      `it could not be installed for a service that was to go there: ${failure.message}`,
    );
  else if (onceOn.has(failure.step) && (await isHeldForMove(tx, toServerId, serviceId)))
    await setServerAside(
      tx,
      toServerId,
      'its system ran for a moment with the keys of a service that did not go there: have it enrolled again before it is sold',
    );
  else await letGoOfMove(tx, toServerId, serviceId);
  await endMove(tx, moveId, `${failure.step}: ${failure.message}`);
  await endBadly(tx, payload, failure, onceOff.has(failure.step) && !payload.isUnplugged ? goesOn : stays);
  await haveOnAgain(tx, payload);
  return verdictOn(failure);
}

/** A person has to look. What was begun with the new server is not undone: it stays held until the job has come to an end. */
export async function endStuck(tx: TxContext, payload: MovePayload, failure: Failure): Promise<void> {
  await leaveStop(tx, payload.moveId);
  const said = failure.code === 'held' ? held : onceOff.has(failure.step) ? isOff : stays;
  await endBadly(tx, payload, failure, said);
}

/** The customer has asked for nothing, and nothing of theirs has changed. */
const stays = 'Your server was to be replaced by another one, which could not be done: it stays as it was';
const goesOn =
  'Your server was to be replaced by another one, which could not be done: it stays as it was, and is switched on again where it was on';
const isOff =
  'Your server was to be replaced by another one, which could not be done: it is off for the moment, and our staff has been told';
const held =
  'Our database was restored from a backup while your server was being replaced by another one: nothing is done to either before our staff has looked';

async function endBadly(tx: TxContext, payload: MovePayload, { code }: Failure, said: string): Promise<void> {
  const message = code === calledOff ? 'It was called off: your server stays as it was' : said;
  await endWork(tx, payload, { code, message });
}

/** Whether it was asked for before the database was restored. */
async function isOfBackup(ctx: Context, { moveId }: MovePayload): Promise<boolean> {
  const restore = await findLastRestore(ctx);
  return restore !== null && (await readMove(ctx, moveId)).asked_at <= restore.restored_at;
}

/** What was on before it was switched off for the move is on again, as soon as its BMC answers; not where a backup says so, for it may be somebody else's since. */
async function haveOnAgain(tx: TxContext, payload: MovePayload): Promise<void> {
  const { serviceId, serverId } = payload;
  const { status, organizationId } = await requireOrder(tx, serviceId);
  const server = await serverOfService(tx, serviceId);
  // What a suspension has to put right it goes on knowing.
  if (server?.id !== serverId || server.state !== 'rented' || status !== 'active') return;
  if (!(await isOfBackup(tx, payload)) && (await readWasOn(tx, serviceId)) === true)
    await enqueue(tx, resumeServer, { serviceId }, { organizationId });
  else await dropWasOn(tx, serviceId);
}
