import { type Bmc, BmcError, type ServerPower } from '../../drivers/bmc/index.ts';
import {
  type Context,
  type Drivers,
  enqueue,
  isJobUnfinishedAbout,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { askingBmc, bmcConnection, deafToButton, hear, placeOf } from './life.ts';

/** What a step of a saga has at hand. */
interface AtHand {
  ctx: Context;
  drivers: Drivers;
}

/** A system may have much to write down before it goes off. */
const buttonMs = 120_000;

const noteWasOn = statement<never, { serviceId: number; wasOn: boolean }>(
  'fleet.noteWasOn',
  `update servers set was_on = :wasOn where service_id = :serviceId and state = 'rented' and was_on is null`,
);
const forgetWasOn = statement<never, { serviceId: number }>(
  'fleet.forgetWasOn',
  'update servers set was_on = null where service_id = :serviceId',
);
const wasOn = statement<{ was_on: boolean | null }, { serviceId: number }>(
  'fleet.wasOn',
  'select was_on from servers where service_id = :serviceId',
);
const powers = statement<
  { service_id: number; server_id: number; power: ServerPower | null; asked_at: Date | null },
  { serviceIds: number[] }
>(
  'fleet.powerOfServices',
  `select s.service_id, s.id as server_id, b.power, b.asked_at from servers s join server_bmcs b on b.server_id = s.id
   where s.service_id = any(:serviceIds::bigint[]) and s.state = 'rented' and b.power_action is null order by s.id`,
);

/** What its BMC says of the power of a server, and where it was asked. Errors of the BMC; `bmc_forgotten` where nobody says how it is reached. */
export function readPowerOf(at: AtHand, serverId: number): Promise<{ at: string; power: ServerPower }> {
  return withBmc(at, serverId, (bmc) => bmc.readPower());
}

/** Presses the power button of a server that is on, and takes its power two minutes later. */
export function haltServer(at: AtHand, serverId: number) {
  return withBmc(at, serverId, async (bmc): Promise<ServerPower> => {
    if ((await bmc.readPower()) === 'off') return 'off';
    try {
      await bmc.shutDown({ timeoutMs: buttonMs });
    } catch (error) {
      if (!(error instanceof BmcError) || !deafToButton.has(error.code)) throw error;
      await bmc.powerOff();
    }
    return 'off';
  });
}

/** Switches a server on, and off again where `isWanted` says then that it may not be on. */
export function startServer(at: AtHand, serverId: number, isWanted: () => Promise<boolean>) {
  return withBmc(at, serverId, async (bmc): Promise<ServerPower> => {
    await bmc.powerOn();
    if (await isWanted()) return 'on';
    await bmc.powerOff();
    return 'off';
  });
}

async function withBmc(
  { ctx, drivers }: AtHand,
  serverId: number,
  work: (bmc: Bmc) => Promise<ServerPower>,
): Promise<{ at: string; power: ServerPower }> {
  const connection = await bmcConnection(ctx, serverId);
  if (connection === null)
    throw Object.assign(new Error('nobody says how the BMC of the server is reached'), {
      ...{ code: 'bmc_forgotten', permanent: true },
    });
  const bmc = drivers.bmc(connection);
  try {
    return { at: placeOf(connection), power: await work(bmc) };
  } finally {
    await bmc.close();
  }
}

/** Writes down what a BMC was heard to say of the power of its server. */
export function hearPower(tx: TxContext, serverId: number, at: string, power: ServerPower): Promise<void> {
  return hear(tx, serverId, at, { power });
}

/** Whether a server was on before its service was suspended: said once, and kept until the suspension is over. */
export async function keepWasOn(tx: TxContext, serviceId: number, isOn: boolean): Promise<void> {
  await tx.db.run(noteWasOn, { serviceId, wasOn: isOn });
}

/** As {@link keepWasOn} had it; null: nobody has looked. */
export async function readWasOn(ctx: Context, serviceId: number): Promise<boolean | null> {
  return (await ctx.db.maybe(wasOn, { serviceId }))?.was_on ?? null;
}

export async function dropWasOn(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(forgetWasOn, { serviceId });
}

/** The power of the servers that these services have, as it was heard last; without those that are being switched. */
export async function powerOfServices(ctx: Context, serviceIds: number[]) {
  return ctx.db.many(powers, { serviceIds });
}

/** Has a BMC asked for a sign of life now, unless that is under way. */
export async function askNow(tx: TxContext, serverId: number): Promise<void> {
  if (!(await isJobUnfinishedAbout(tx, askingBmc, { serverId })))
    await enqueue(tx, askingBmc, { serverId }, { organizationId: null });
}
