import { Type } from 'typebox';
import { event } from '../events/index.ts';
import { Id } from '../platform/http/index.ts';

interface ActionTold {
  action_id: number;
  command: string;
}

interface ConsoleOpened {
  kind: 'serial';
}

interface StaffOpenedConsole {
  reason: string;
}

interface CredentialsShown {
  username: string;
}

interface ActionFailed extends ActionTold {
  reason: string;
}

const told = { permission: 'dedicated.read', data: { action_id: Id, command: Type.String() } } as const;

export const actionStarted = event<ActionTold>(
  'dedicated.action.started',
  'somebody asked for an action on a server',
  told,
);
export const actionSucceeded = event<ActionTold>(
  'dedicated.action.succeeded',
  'an action on a server was done',
  told,
);
export const actionFailed = event<ActionFailed>(
  'dedicated.action.failed',
  'an action on a server failed',
  told,
);
export const consoleOpened = event<ConsoleOpened>(
  'dedicated.console.opened',
  'somebody opened the console of a server',
);
export const credentialsShown = event<CredentialsShown>(
  'dedicated.credentials.shown',
  'the password that we had made for a server was shown, once',
);
export const staffOpenedConsole = event<StaffOpenedConsole>(
  'dedicated.console.opened_by_staff',
  'staff opened the console of a server that a customer rents',
  { permission: 'dedicated.read', data: { reason: Type.String() } },
);

interface MoveAsked {
  /** What the server is called, for staff, and the other one. */
  name: string;
  server: string;
  service_id: number;
  reason: string;
}

export const moveAsked = event<MoveAsked>(
  'server.move_asked',
  'staff has a service leave its server for another one',
);

interface Moved {
  user_id: number;
  hostname: string;
  /** There is another password, which is shown once. */
  new_password: boolean;
}

export const moved = event<Moved>(
  'dedicated.moved',
  'a service has another server, with its addresses and without what was on its disks',
  { permission: 'dedicated.read', data: { hostname: Type.String(), new_password: Type.Boolean() } },
);

interface OutOfOrder {
  user_id: number;
  hostname: string;
  /** The service has none any more; false: it has this one still. */
  taken_away: boolean;
}

interface InOrder {
  user_id: number;
  hostname: string;
}

const about = { permission: 'dedicated.read', data: { hostname: Type.String() } } as const;

export const outOfOrder = event<OutOfOrder>(
  'dedicated.out_of_order',
  'the server of a service cannot be used: it is put right, or the service gets another one',
  about,
);
export const inOrder = event<InOrder>(
  'dedicated.in_order',
  'a server that was out of order can be used again',
  about,
);
