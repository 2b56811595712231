import { Type } from 'typebox';
import { event } from '../events/index.ts';
import { Id, Nullable } from '../platform/http/index.ts';

interface ActionTold {
  action_id: number;
  command: string;
}

interface ActionFailed extends ActionTold {
  reason: string;
}

interface ConsoleOpened {
  kind: 'vnc' | 'serial';
}

interface SettingsChanged {
  fields: string[];
}

interface CopyNamed {
  name: string;
}

interface Reason {
  reason: string;
}

interface EvacuationBegan {
  name: string;
  /** Whether machines that cannot go while they run are shut down for it. */
  cold: boolean;
  machines: number;
  /** Into which machines of a host of our own go; null: to other members of the node's own. */
  cluster: string | null;
}

interface NodeRestored {
  name: string;
  /** How many machines are to come back. */
  machines: number;
}

interface EvacuationStopped {
  name: string;
}

interface EvacuationEnded {
  kind: 'evacuate' | 'restore';
  moved: number;
  /** Machines that would not move. */
  stay: number;
}

interface Moved {
  /** Of the node that it is on now, and of that before. */
  name: string;
  before: string;
  /** `others`: somebody in the engine, or the engine by itself. */
  by: 'innkeeper' | 'others';
  /** Whether the new node has more by now than it may promise. */
  overrun: boolean;
}

interface MovePlanned {
  user_id: number;
  hostname: string;
  /** Not before this moment; null: as soon as it is its turn. */
  begins_at: string | null;
  /** It is off already, and is told of for what it loses. */
  is_off: boolean;
  /** Copies that stay behind. */
  lost_snapshots: number;
  lost_backups: number;
}

interface MoveEnded {
  user_id: number;
  hostname: string;
  /** Whether it is on another host now. */
  moved: boolean;
  /** When it was taken down, and for how long; null: it ran on. */
  off_at: string | null;
  away_s: number | null;
  /** It answered before, and does not yet where it is now. */
  is_late: boolean;
}

interface RecoveryBegan {
  name: string;
  machines: number;
}

interface Recovered {
  user_id: number;
  hostname: string;
  /** Of the node that it is on now, and of the lost one. */
  name: string;
  before: string;
  /** The moment that it goes back to. */
  backup_at: string;
}

interface Adopted {
  /** What engines call it, and what was taken for it before. */
  machine: string;
  instead_of: string;
  /** The nodes that have them. */
  name: string;
  before: string;
  /** The nodes that could not say whether another copy runs there, which staff confirmed; null: all could. */
  confirmed: string | null;
}

interface LeftOver {
  /** What the engine calls it. */
  machine: string;
  member: string;
}

export const actionStarted = event<ActionTold>(
  'vps.action.started',
  'somebody asked for an action on a machine',
  { permission: 'vps.read', data: { action_id: Id, command: Type.String() } },
);
export const actionSucceeded = event<ActionTold>('vps.action.succeeded', 'an action on a machine was done', {
  permission: 'vps.read',
  data: { action_id: Id, command: Type.String() },
});
export const actionFailed = event<ActionFailed>('vps.action.failed', 'an action on a machine failed', {
  permission: 'vps.read',
  data: { action_id: Id, command: Type.String() },
});
export const consoleOpened = event<ConsoleOpened>(
  'vps.console.opened',
  'somebody opened a console of a machine',
);
export const settingsChanged = event<SettingsChanged>(
  'vps.settings.changed',
  'the settings of a machine were changed',
);
export const vpsLost = event<Reason>('vps.lost', 'a machine cannot be kept running and needs a person');
export const nodeFailing = event<Reason>(
  'node.failing',
  'a node fails its machines, which are tried again until they run',
);
export const evacuationBegan = event<EvacuationBegan>(
  'node.evacuation.started',
  'staff has machines of a node go to others of its cluster, or into one',
);
export const evacuationStopped = event<EvacuationStopped>(
  'node.evacuation.stopped',
  'staff has no more machines of a node go to others',
);
export const evacuationEnded = event<EvacuationEnded>(
  'node.evacuation.ended',
  'all machines of a node have gone, or come back, but for those that stay',
);
export const nodeRestored = event<NodeRestored>(
  'node.restored',
  'staff has a node take machines again, and those that were taken away from it come back if it said so',
);
export const nodeWell = event('node.well', 'all machines that a node had failed run again, or need not');
export const vpsMoved = event<Moved>('vps.moved', 'a machine went over to another node of its cluster');
export const movePlanned = event<MovePlanned>(
  'vps.move.planned',
  'a machine is going to be off for a while, or to lose copies, since staff has it go to another host',
  {
    permission: 'vps.read',
    data: {
      ...{ hostname: Type.String(), begins_at: Nullable(Type.String()), is_off: Type.Boolean() },
      ...{ lost_snapshots: Type.Integer(), lost_backups: Type.Integer() },
    },
  },
);
export const moveEnded = event<MoveEnded>(
  'vps.move.ended',
  'a machine that was to be off for a while has gone to another host, or stays where it is',
  {
    permission: 'vps.read',
    data: {
      ...{ hostname: Type.String(), moved: Type.Boolean() },
      off_at: Nullable(Type.String()),
      away_s: Nullable(Type.Integer()),
      is_late: Type.Boolean(),
    },
  },
);
export const recoveryBegan = event<RecoveryBegan>(
  'node.recovery.started',
  'staff has machines of a lost node made anew on others, from their backups',
);
export const vpsRecovered = event<Recovered>(
  'vps.recovered',
  'a machine of a lost node was made anew on another, from a backup',
  { permission: 'vps.read', data: { hostname: Type.String(), backup_at: Type.String() } },
);
export const leftOverStopped = event<LeftOver>(
  'vps.left_over.stopped',
  'a lost node that is back still ran a machine that was made anew elsewhere, and it was switched off there',
);
export const vpsAdopted = event<Adopted>(
  'vps.adopted',
  'staff has the database follow a later copy of a machine, which it did not know after a restore',
);
export const vpsRepaired = event<Reason>('vps.repaired', 'a machine that was down was started again');
export const copyInconsistent = event<CopyNamed>(
  'vps.copy.inconsistent',
  'a snapshot or backup was made of a guest that did not settle its file systems',
);
