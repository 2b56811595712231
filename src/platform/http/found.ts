import type { Context, OrganizationContext } from '../context.ts';
import type { Permission } from './permission.ts';

/** Something that was found by its name, its number or its address. */
export interface Found {
  /** As paths name it: an id, or the short code of a ticket. */
  id: string;
  title: string;
  /** What tells it from others of that name: an address, whose it is. */
  detail: string | null;
  status: string | null;
}

/** What customers find of a room. */
export interface FindSource<Kind extends string = string> {
  kind: Kind;
  /** Which permission shows it to a member. */
  permission: Permission;
  find(ctx: OrganizationContext, words: string, limit: number): Promise<Found[]>;
}

/** What staff finds of a room. */
export interface StaffFindSource<Kind extends string = string> {
  kind: Kind;
  /** Which roles of staff read it; every one when absent. */
  staffRoles?: readonly string[];
  find(ctx: Context, words: string, limit: number): Promise<Found[]>;
}

/** The first page of a list, of what its search finds. */
export function firstOf(words: string, limit: number) {
  return { page: 1, limit, search: words };
}

/** A whole number that could be an id; null for any other words. */
export function idIn(words: string): number | null {
  const id = /^\d{1,16}$/.test(words) ? Number(words) : null;
  return id !== null && Number.isSafeInteger(id) ? id : null;
}
