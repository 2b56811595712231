import type { HypervisorCapability } from '../drivers/hypervisor/index.ts';
import type { Permission, ReasonAgainst } from '../platform/http/index.ts';
import { type Capable, lackOf } from './capabilities.ts';

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

/** What becomes of an action; `queued` and `running` are open, and the others its end. */
export const actionStatuses = ['queued', 'running', 'success', 'error'] as const;

export type ActionStatus = (typeof actionStatuses)[number];

export const openStatuses = ['queued', 'running'] as const satisfies readonly ActionStatus[];

interface Rule {
  /** What its route asks of whoever does it. */
  permission: Permission;
  /** States it may begin in. */
  from: readonly MachineState[];
  /** State while it runs; absent: the machine stays what it is. */
  during?: MachineState;
  /** State once it succeeded; absent: what it was before. */
  to?: 'running' | 'stopped';
  /** Setting that forbids it. */
  protectedBy?: 'reinstall';
  /** It changes the system that runs; of the rescue system nothing stays. */
  ownSystem?: true;
  /** Its node must be able to do one of these. */
  needs?: readonly HypervisorCapability[];
}

/** Nothing is under way in these. */
export const settledStates = ['running', 'stopped', 'error'] as const satisfies readonly MachineState[];

export const rules = {
  start: { permission: 'vps.power', from: ['stopped', 'error'], during: 'starting', to: 'running' },
  stop: { permission: 'vps.power', from: ['running', 'error'], during: 'stopping', to: 'stopped' },
  restart: { permission: 'vps.power', from: ['running', 'error'], during: 'restarting', to: 'running' },
  reinstall: {
    permission: 'vps.manage',
    from: settledStates,
    during: 'reinstalling',
    to: 'running',
    protectedBy: 'reinstall',
  },
  create_snapshot: { permission: 'vps.manage', from: ['running', 'stopped'], needs: ['snapshots'] },
  delete_snapshot: { permission: 'vps.manage', from: settledStates },
  restore_snapshot: {
    permission: 'vps.manage',
    from: settledStates,
    during: 'restoring',
    protectedBy: 'reinstall',
    needs: ['snapshots', 'backups'],
  },
  create_backup: { permission: 'vps.manage', from: ['running', 'stopped'], needs: ['backups'] },
  reset_password: { permission: 'vps.manage', from: ['running'], needs: ['guest_agent'], ownSystem: true },
  update_access: { permission: 'vps.manage', from: ['running'], needs: ['guest_agent'], ownSystem: true },
  rename: { permission: 'vps.manage', from: ['running'], needs: ['guest_agent'], ownSystem: true },
  resize: { permission: 'billing.pay', from: settledStates, during: 'resizing' },
} as const satisfies Record<string, Rule>;

/** In SQL: the states of a list, for `state in …`. */
export function inSql(states: readonly string[]): string {
  return `(${states.map((state) => `'${state}'`).join(', ')})`;
}

export type ActionName = keyof typeof rules;

export const actionNames = Object.keys(rules) as ActionName[];

export function ruleOf(action: ActionName): Rule {
  return rules[action];
}

export interface Machine extends Capable {
  state: MachineState;
  serviceStatus: string;
  /** Command of the action under way; null when there is none. */
  lockedBy: string | null;
  /** Whether it was started from the rescue system. */
  inRescue: boolean;
  protection: { delete: boolean; reinstall: boolean };
}

/** What customers are told of beside: taking the power at once does not wait for what is under way. */
export const powerOff = 'force_stop';

export const refusalCodes = ['locked', 'action_not_allowed', 'not_supported', 'permission_denied'] as const;

export type Refusal = ReasonAgainst<'locked' | 'action_not_allowed' | 'not_supported'>;

/** Why an action is not possible right now; null when it is possible. */
export function reasonAgainst(action: ActionName, machine: Machine): Refusal | null {
  const rule = ruleOf(action);
  const lack = lackOf(machine, rule.needs ?? []);
  if (lack !== null) return { code: 'not_supported', message: lack };
  if (machine.serviceStatus !== 'active') return notAllowed(`The service is ${machine.serviceStatus}`);
  if (machine.lockedBy !== null) {
    return { code: 'locked', message: `The action ${machine.lockedBy} is still running` };
  }
  if (rule.protectedBy !== undefined && machine.protection[rule.protectedBy]) {
    return notAllowed(
      `The machine is protected: turn protection.${rule.protectedBy} off in its settings first`,
    );
  }
  if (rule.ownSystem && machine.inRescue) {
    return notAllowed(
      'The machine runs from the rescue system, of which nothing stays: turn rescue off in its settings and restart it first, or change its disk from there',
    );
  }
  if (rule.from.includes(machine.state)) return null;
  return notAllowed(
    `The machine is ${machine.state}; ${action} is possible when it is ${rule.from.join(' or ')}`,
  );
}

function notAllowed(message: string): Refusal {
  return { code: 'action_not_allowed', message };
}
