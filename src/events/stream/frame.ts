import { messageOf } from '../message.ts';
import type { JournalEntry } from '../readJournal.ts';

/** An entry as a stream sends it, and which permission somebody needs to get it. */
export interface Frame {
  id: number;
  permission: string;
  text: string;
}

/** What customers get of an entry; null when they are told nothing of it. */
export function frameOf(entry: JournalEntry): Frame | null {
  const found = messageOf(entry);
  if (found === null) return null;
  const { message, told } = found;
  return { id: entry.id, permission: told.permission, text: written(entry, { id: entry.id, ...message }) };
}

/** An entry as staff gets it: all that the journal has, and for who may not read that, what happened to what. */
export interface StaffFrame {
  id: number;
  event: string;
  all: string;
  that: string;
}

export function staffFrameOf(entry: JournalEntry): StaffFrame {
  const { id, event: type, createdAt: timestamp, organizationId: organization_id, subject, data } = entry;
  const face = { id, type, timestamp };
  const that = { organization_id, subject };
  return {
    ...{ id, event: type, all: written(entry, { ...face, data: { ...data, ...that } }) },
    that: written(entry, { ...face, data: that }),
  };
}

function written({ id, event }: JournalEntry, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Tells how far the journal was read, so that a client that comes back is asked for no more than it missed. */
export function positionFrame(id: number): string {
  return `:\nid: ${id}\n\n`;
}

/** Tells a client to read anew: what it missed is gone. */
export function resetFrame(id: number): string {
  return `id: ${id}\nevent: reset\ndata: {"reason":"The events since your last one are not kept any more: read anew what you show"}\n\n`;
}
