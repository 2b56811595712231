import type { HypervisorErrorCode } from '../../drivers/hypervisor/index.ts';
import type { Failure } from '../../platform/index.ts';
import { anotherCopy, mayLiveElsewhere, notCompared } from '../incarnations.ts';

/**
 * What a customer is told of a failed action, and what to do. A driver's own message speaks of the host it runs
 * on, and stays in the log and with the failed job. `null`: nothing that a customer could do anything about.
 */
const advice: Record<Exclude<HypervisorErrorCode, 'no_space' | 'guest_refused'>, string | null> = {
  spec_invalid: null,
  not_supported: 'The node of this machine cannot do this',
  host_not_ready:
    'The node of this machine is not ready; our staff has been told, try again in a few minutes',
  image_unknown:
    'The operating system is not on the node of this machine; choose another, or try again later',
  image_build_failed:
    'The operating system could not be made ready; our staff has been told, choose another or try again later',
  image_rejected:
    'The operating system could not be made ready; our staff has been told, choose another meanwhile',
  disk_failed: 'The disk of the machine could not be changed; our staff has been told, try again later',
  network_failed:
    'The machine could not be connected to its network; our staff has been told, try again later',
  start_failed: 'The machine could not be started; our staff has been told, try again in a few minutes',
  machine_absent: 'The machine was not found on its node; our staff has been told',
  machine_died: 'The machine went down while this was under way; start it and watch its console to see why',
  not_running: 'The machine is not running; start it and try again',
  not_stopped: 'The machine has to stay stopped for this, and was started meanwhile; stop it and try again',
  shutdown_timeout:
    'The machine did not shut down in time and is still running. To have it off anyway, switch it off at once, which is a stop with force: what its programs have not saved is lost. If it shuts down within the next ten minutes, it is left as you asked',
  ready_timeout:
    'The machine runs, but nothing answers on SSH at its first address; its console shows how far it has come',
  guest_silent:
    "The guest's agent does not answer. If the machine is still booting, wait and try again; otherwise install and start qemu-guest-agent in it. If you cannot sign in, turn `rescue` on in the settings, restart, and change the disk from there",
  screen_failed: null,
  snapshot_failed:
    'The copy of the disk could not be made or restored, perhaps because the node is full; our staff has been told. Delete copies that you do not need and try again later',
  not_possible:
    'The host of the machine cannot do this with the machine as it is. A backup comes back only while there are no snapshots: delete those and try again',
  snapshot_absent: 'This copy of the disk is not on the node any more; delete it and choose another',
};

/** Said for customers already: by our own rules, by a node that is full, by the guest about itself. */
const plain: ReadonlySet<string> = new Set([
  ...['conflict', 'locked', 'action_not_allowed', 'not_found', 'storage_full', 'unavailable'],
  ...['no_space', 'guest_refused', 'cancelled'],
]);

const ofCopies: Partial<Record<string, string>> = {
  [mayLiveElsewhere]: `${anotherCopy}, and nothing is done with this one meanwhile`,
  [notCompared]: `${anotherCopy}, and this one is not started before that is known. Try again in a few minutes; write to us when you need it at once`,
};

/** What holds for an action of its kind, whatever it failed of. */
const afterwards: Partial<Record<string, string>> = {
  rename: 'The machine takes its new name at its next start',
};

/** A failure in words for the customer, as the action and the journal keep it. */
export function forCustomer(
  action: { id: number; command: string },
  { code, message }: Failure,
): { code: string; message: string } {
  const words = plain.has(code) ? message : (adviceOn(code) ?? ofCopies[code] ?? ours(action.id));
  const more = afterwards[action.command];
  return { code, message: more === undefined ? words : `${words}. ${more}` };
}

function adviceOn(code: string): string | null {
  return Object.hasOwn(advice, code) ? advice[code as keyof typeof advice] : null;
}

function ours(actionId: number): string {
  return `Something went wrong on our side; our staff has been told. Quote action ${actionId} when you ask for help`;
}
