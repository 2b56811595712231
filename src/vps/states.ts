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

interface Rule {
  /** States it may begin in. */
  from: readonly MachineState[];
  /** State while it runs; absent: the machine stays what it is. */
  during?: MachineState;
  /** State once it succeeded; absent: what it was before. */
  to?: 'running' | 'stopped';
  /** Setting that forbids it. */
  protectedBy?: 'reinstall' | 'delete';
}

const settled = ['running', 'stopped', 'error'] as const;

export const rules = {
  start: { from: ['stopped', 'error'], during: 'starting', to: 'running' },
  stop: { from: ['running', 'error'], during: 'stopping', to: 'stopped' },
  restart: { from: ['running', 'error'], during: 'restarting', to: 'running' },
  reinstall: { from: settled, during: 'reinstalling', to: 'running', protectedBy: 'reinstall' },
  create_snapshot: { from: ['running', 'stopped'] },
  delete_snapshot: { from: settled },
  restore_snapshot: { from: settled, during: 'restoring', protectedBy: 'reinstall' },
  create_backup: { from: ['running', 'stopped'] },
  reset_password: { from: ['running'] },
  update_access: { from: ['running'] },
  rename: { from: ['running'] },
  resize: { from: settled, during: 'resizing' },
} as const satisfies Record<string, Rule>;

export type ActionName = keyof typeof rules;

export const actionNames = Object.keys(rules) as ActionName[];

export function ruleOf(action: ActionName): Rule {
  return rules[action];
}

export interface Machine {
  state: MachineState;
  serviceStatus: string;
  /** Command of the action under way; null when there is none. */
  lockedBy: string | null;
  protection: { delete: boolean; reinstall: boolean };
}

/** Why an action is not possible right now, in words for the customer; null when it is possible. */
export function reasonAgainst(action: ActionName, machine: Machine): string | null {
  const rule = ruleOf(action);
  if (machine.serviceStatus !== 'active') return `The service is ${machine.serviceStatus}`;
  if (machine.lockedBy !== null) return `The action ${machine.lockedBy} is still running`;
  if (rule.protectedBy !== undefined && machine.protection[rule.protectedBy]) {
    return `The machine is protected: turn protection.${rule.protectedBy} off in its settings first`;
  }
  if (rule.from.includes(machine.state)) return null;
  return `The machine is ${machine.state}; ${action} is possible when it is ${rule.from.join(' or ')}`;
}
