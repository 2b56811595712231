import { Readable } from 'node:stream';
import type { OpenStream, Principal } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';

/** Somebody who has a stream open. */
export interface Client {
  /** Null: staff, who hear of all organizations. */
  readonly organizationId: number | null;
  /** How much of an event somebody of staff hears. */
  readonly hears: Hears;
  readonly userId: number;
  readonly body: Readable;
  readonly stream: OpenStream;
  /** The last entry that it says it has. */
  after: number;
  /** What it watches besides. */
  readonly watching: Watching | null;
  /** Second of the minute's quarter at which it is told that the stream is still there. */
  readonly beat: number;
  /** Whether it has all that came before and gets what comes as it comes. */
  isLive: boolean;
  /** Bytes that it had not taken at its last beat. */
  unreadBytes: number;
}

/**
 * How much somebody of staff hears of an event, by its name: all that the journal has of it, that it happened and to what, or
 * nothing.
 */
export type Hears = (principal: Principal, event: string) => 'all' | 'that' | 'nothing';

/** A machine, or what else is watched while somebody looks. */
export interface Watching {
  readonly kind: string;
  readonly id: number;
}

/** What a client may leave unread before it is cut off; it comes back for the rest. */
const mostUnreadBytes = 262_144;
export const beatEveryS = 15;

/** A stream that its client reads; `leave` is called once when it is over, whoever ended it. */
export function openBody(leave: () => void): Readable {
  return new Readable({
    read: () => undefined,
    destroy: (error, done) => {
      leave();
      done(error);
    },
  });
}

/** Sends a client something; whoever does not read is cut off. */
export function send({ body }: Client, text: string): void {
  if (body.destroyed || text === '') return;
  if (body.readableLength > mostUnreadBytes) body.destroy();
  else body.push(text);
}

/** Ends a stream as a server that has nothing more to say. */
export function end({ body }: Client): void {
  if (!body.destroyed && !body.readableEnded) body.push(null);
}

/** Counts the streams that each person has open in this process. */
export function createPlaces(atMost: number) {
  const taken = new Map<number, number>();
  return {
    /** Takes a place; `rate_limited` when there is none left. */
    take(userId: number): void {
      const open = taken.get(userId) ?? 0;
      if (open >= atMost) {
        const message = `You have ${open} streams of events open, and ${atMost} is the most; close one and try again`;
        throw fail('rate_limited', { message, retryAfterS: beatEveryS });
      }
      taken.set(userId, open + 1);
    },
    leave(userId: number): void {
      const open = (taken.get(userId) ?? 1) - 1;
      if (open > 0) taken.set(userId, open);
      else taken.delete(userId);
    },
  };
}
