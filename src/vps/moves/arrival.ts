import { record } from '../../events/index.ts';
import { moveRoom } from '../../fleet/index.ts';
import { sendJobsAlong, statement, type TxContext } from '../../platform/index.ts';
import { vpsMoved } from '../events.ts';
import { findMachine, setMachineState } from '../machine.ts';
import { forgetLayers, holdCopies } from '../snapshots/rows.ts';

// One that its host has failed waits to be tried again: then it is, at once, on the other.
const writeIncarnation = statement<
  never,
  { serviceId: number; nodeId: number; incarnation: number; now: Date }
>(
  'vps.writeArrival',
  `update machines set node_id = :nodeId, incarnation = :incarnation, started_at = null, button = null, pressed_at = null,
     retry_at = case when retry_at is not null then :now::timestamptz end, host_failures = 0 where service_id = :serviceId`,
);
const namesOf = statement<{ name: string; before: string }, { from: number; to: number }>(
  'vps.namesOfArrival',
  'select n.name, before.name as before from nodes before, nodes n where before.id = :from and n.id = :to',
);

interface Arrival {
  serviceId: number;
  from: number;
  to: number;
  incarnation: number;
  runs: boolean;
}

/** Writes down that a machine is the one in the cluster from now on, with its room and what waits to be done with it. The service is locked. */
export async function writeArrival(tx: TxContext, arrival: Arrival): Promise<void> {
  const { serviceId, from, to, incarnation, runs } = arrival;
  const machine = await findMachine(tx, serviceId);
  if (machine === null) throw new Error(`service ${serviceId} has no machine`);
  await tx.db.run(writeIncarnation, { serviceId, nodeId: to, incarnation, now: tx.clock.now() });
  await sendJobsAlong(tx, { about: { serviceId }, from, to });
  const { isOverrun } = await moveRoom(tx, serviceId, to);
  await tx.db.run(forgetLayers, { serviceId });
  await holdCopies(tx, serviceId);
  // What a suspension or a stop with force has made of it meanwhile stays.
  if (runs && machine.state === 'restarting')
    await setMachineState(tx, serviceId, 'running', { startedAt: tx.clock.now() });
  await record(tx, vpsMoved, {
    ...{ subject: { type: 'service', id: serviceId }, organizationId: machine.organization_id },
    data: { ...(await tx.db.one(namesOf, { from, to })), by: 'innkeeper', overrun: isOverrun },
  });
}
