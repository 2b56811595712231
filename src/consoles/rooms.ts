import type { Duplex } from 'node:stream';
import type { Ticket } from './tickets.ts';

/** What a viewer is told when a console is over. */
export interface Ending {
  /** Of the WebSocket. */
  code: number;
  reason: string;
}

/** What a ticket leads to. */
export interface Sight {
  /** By which those who look at the same are counted. */
  of: string;
  open(): Promise<Duplex>;
  /** Why it may not be looked at any more; null: it may. Asked once the line is open, before a byte has passed, and every two seconds. */
  whyOver(): Promise<Ending | null>;
  /** What is told where it could not be opened. */
  whyNone(error: unknown): Promise<Ending>;
  /** What is told where it ended by itself. */
  whyEnded(error: Error | null): Promise<Ending>;
}

/** What has consoles: it says whose tickets may be used, and opens what is behind them. */
export interface ConsoleRoom {
  /** Whether a ticket leads to something of it. */
  isOf(ticket: Ticket): boolean;
  /** Null: there is nothing to be looked at, or not for whoever asked for the ticket. */
  find(ticket: Ticket): Promise<Sight | null>;
  /** The process stops. */
  close?(): Promise<void>;
}

const goingAway = 1001;
const notAllowed = 1008;
const failed = 1011;
const tryAgainLater = 1013;
/** Of our own, as RFC 6455 leaves them to applications. */
const takenOver = 4001;

export const endings = {
  stopping: { code: goingAway, reason: 'the product is stopping' },
  ended: { code: goingAway, reason: 'the console ended' },
  accessEnded: { code: notAllowed, reason: 'access has ended' },
  unchecked: { code: failed, reason: 'access could not be checked' },
  takenOver: { code: takenOver, reason: 'somebody else has opened this console' },
  none: (reason: string): Ending => ({ code: failed, reason }),
  tooMany: (most: number): Ending => ({
    code: tryAgainLater,
    reason: `there are ${most} open consoles of this; close one first`,
  }),
} as const;
