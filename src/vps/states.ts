/** States of a machine and what may be done in each: the one table that enforces it and that customers see. */
export const machineStates = [
  'creating',
  'running',
  'stopped',
  'starting',
  'stopping',
  'restarting',
  'reinstalling',
  'resizing',
  'restoring',
  'suspended',
  'error',
  'deleting',
] as const;

export type MachineState = (typeof machineStates)[number];

export const allowedIn = {
  start: ['stopped', 'error'],
  stop: ['running', 'error'],
  restart: ['running', 'error'],
} as const satisfies Record<string, readonly MachineState[]>;

export type ActionName = keyof typeof allowedIn;

export const actionNames = Object.keys(allowedIn) as ActionName[];

/** State while the action runs, and state once it succeeded. */
export const during = {
  start: 'starting',
  stop: 'stopping',
  restart: 'restarting',
} as const satisfies Record<ActionName, MachineState>;

export const after = {
  start: 'running',
  stop: 'stopped',
  restart: 'running',
} as const satisfies Record<ActionName, 'running' | 'stopped'>;

export interface Machine {
  state: MachineState;
  serviceStatus: string;
  /** Command of the action under way; null when there is none. */
  lockedBy: string | null;
}

/** Why an action is not possible right now, in words for the customer; null when it is possible. */
export function reasonAgainst(action: ActionName, machine: Machine): string | null {
  if (machine.serviceStatus !== 'active') return `The service is ${machine.serviceStatus}`;
  if (machine.lockedBy !== null) return `The action ${machine.lockedBy} is still running`;
  const states: readonly MachineState[] = allowedIn[action];
  if (states.includes(machine.state)) return null;
  return `The machine is ${machine.state}; ${action} is possible when it is ${states.join(' or ')}`;
}
