import { type Context, statement } from '../../../platform/index.ts';
import type { MachineState } from '../../states.ts';

/** The process that holds a machine's serial line, as it was written down. */
export interface Holder {
  /** Of the process. */
  holder: string;
  /** `http://host:port`, where it answers other processes. */
  address: string;
  /** Goes up every second while it lives. */
  beats: number;
  seen_at: Date;
}

/** The machine at the other end of a line. */
export interface LineMachine {
  node_id: number;
  incarnation: number;
  started_at: Date | null;
}

export type Claimed = Holder & LineMachine;

/** Who claims a line: a process, and where others join it there. */
export interface Claimant {
  process: string;
  address: string;
}

const claimLine = statement<Claimed, { serviceId: number; process: string; address: string; now: Date }>(
  'vps.claimLine',
  `with mine as (
     insert into console_lines (service_id, holder, address, seen_at) values (:serviceId, :process::uuid, :address, :now)
     on conflict (service_id) do update set seen_at = :now where console_lines.holder = :process::uuid
     returning holder, address, beats, seen_at),
   now_held as (
     select * from mine union all
     select holder, address, beats, seen_at from console_lines
     where service_id = :serviceId and not exists (select from mine))
   select l.holder, l.address, l.beats, l.seen_at, m.node_id, m.incarnation, m.started_at
   from now_held l join machines m on m.service_id = :serviceId`,
);
const holderOf = statement<Holder, { serviceId: number }>(
  'vps.lineHolder',
  'select holder, address, beats, seen_at from console_lines where service_id = :serviceId',
);
const takeLineOver = statement<
  never,
  { serviceId: number; from: string; beats: number; process: string; address: string; now: Date }
>(
  'vps.takeLineOver',
  `update console_lines set holder = :process::uuid, address = :address, beats = 0, seen_at = :now
   where service_id = :serviceId and holder = :from::uuid and beats = :beats`,
);
const releaseLine = statement<never, { serviceId: number; process: string }>(
  'vps.releaseLine',
  'delete from console_lines where service_id = :serviceId and holder = :process::uuid',
);

/** A line that a process holds still, with how its machine is. */
export interface Beaten extends LineMachine {
  service_id: number;
  state: MachineState;
}

const beatLines = statement<Beaten, { process: string; now: Date }>(
  'vps.beatLines',
  `update console_lines l set beats = l.beats + 1, seen_at = :now from machines m
   where l.holder = :process::uuid and m.service_id = l.service_id
   returning l.service_id, m.node_id, m.incarnation, m.started_at, m.state`,
);

/**
 * Makes this process the holder of a machine's line where nobody is, and says who is; null when that changed at the same moment, and
 * where there is no machine.
 */
export function claim(ctx: Context, serviceId: number, by: Claimant): Promise<Claimed | null> {
  return ctx.db.maybe(claimLine, { serviceId, ...by, now: ctx.clock.now() });
}

export function findHolder(ctx: Context, serviceId: number): Promise<Holder | null> {
  return ctx.db.maybe(holderOf, { serviceId });
}

/** Makes this process the holder in place of one that gave no sign of life any more. Of several that want it one gets it. */
export async function takeOver(ctx: Context, serviceId: number, from: Holder, by: Claimant): Promise<void> {
  const { holder, beats } = from;
  await ctx.db.run(takeLineOver, { serviceId, from: holder, beats, ...by, now: ctx.clock.now() });
}

export async function release(ctx: Context, serviceId: number, process: string): Promise<void> {
  await ctx.db.run(releaseLine, { serviceId, process });
}

/** Gives the sign of life of a process that holds lines, and says which those are. */
export function beat(ctx: Context, process: string): Promise<Beaten[]> {
  return ctx.db.many(beatLines, { process, now: ctx.clock.now() });
}
