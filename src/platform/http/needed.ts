import type { OrganizationContext } from '../context.ts';
import type { Permission } from './permission.ts';

/** Something that waits for its customer. */
export interface Need {
  /** As paths name it: an id, or the short code of a ticket. */
  id: string;
  /** What it is called. */
  title: string;
  /** What is to be known of it besides: an amount, a reason. */
  detail: string | null;
  /** The day that it is about: when an invoice is due, when a card ends. */
  on: string | null;
}

/** What of a room waits for its customer. */
export interface NeedSource<Kind extends string = string> {
  kinds: readonly Kind[];
  /** Which permission shows it to a member. */
  permission: Permission;
  find(ctx: OrganizationContext, limit: number): Promise<(Need & { kind: Kind })[]>;
}
