import { exchangeVlans, planVlanExchange } from '../../../fleet/index.ts';
import { type MoveRun, type MoveStep, orTell, requireGoing } from '../run.ts';

/** Before anything is switched: what cannot be moved to another port is known while the service goes on. */
export const vlansStep: MoveStep = {
  name: 'vlans',
  do: async (run) => {
    await requireGoing(run);
    return { vlans: await planVlanExchange(run, run.payload.serverId, run.payload.toServerId) };
  },
};

const silentSwitch =
  'The service is off until then: have the switch answer; or, where it is gone for good, set the VLANs of both servers by hand and say in its list of ports that nothing is plugged in there';

export const vlanStep: MoveStep = {
  name: 'vlan',
  do: async (run) => {
    await requireGoing(run);
    await orTell(run, silentSwitch, () => exchangeVlans(run, exchangeOf(run, 'there')));
  },
  undo: async (run) => orTell(run, silentSwitch, () => exchangeVlans(run, exchangeOf(run, 'back'))),
};

function exchangeOf({ payload, state }: MoveRun, way: 'there' | 'back') {
  return { leftId: payload.serverId, takenId: payload.toServerId, pairs: state.vlans ?? [], way };
}
