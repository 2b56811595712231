/**
 * Consoles: a ticket that opens one once, the WebSocket that carries it, who may go on looking, and how a process that reaches what is shown passes it on to
 * those that do not. What is behind a console is of the rooms that have some.
 */

export { ownAddress, ownProcess } from './elsewhere/address.ts';
export { dial, FailedElsewhere } from './elsewhere/dial.ts';
export { announceHost, type ConsoleHost, findConsoleHosts } from './elsewhere/hosts.ts';
export { answerTo, isAnswer, makePass, passReader, type Wanted } from './elsewhere/pass.ts';
export type { OpenForOthers } from './elsewhere/serve.ts';
export { consolesPersonal } from './personal.ts';
export { type ConsoleRoom, type Ending, endings, type Sight } from './rooms.ts';
export { SerialConsole } from './schema.ts';
export { type Seat, seatAt } from './seats.ts';
export { serveConsoles, serveOtherProcesses } from './serve.ts';
export {
  type ConsoleKind,
  dropTicketsOf,
  issueTicket,
  openerIsStaff,
  openerMay,
  type Ticket,
  ticketPeriodicJob,
} from './tickets.ts';
