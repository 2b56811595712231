import { createTicket } from '../../../client/generated/fields/createTicket.ts';
import type { Schema } from '../../../client/index.ts';

/** States that lists are filtered by, in the order in which they are offered. */
export const serviceStates = [
  'pending',
  'active',
  'suspended',
  'cancelled',
  'terminated',
] as const satisfies readonly Schema<'ServiceStatus'>[];

export const invoiceStates = [
  'unpaid',
  'paid',
  'cancelled',
  'refunded',
  'partially_refunded',
] as const satisfies readonly Schema<'InvoiceStatus'>[];

export const ticketStates = [
  'open',
  'answered',
  'customer_reply',
  'in_progress',
  'on_hold',
  'closed',
] as const satisfies readonly Schema<'TicketStatus'>[];

export const ticketPriorities = createTicket.priority.choices satisfies readonly Schema<'TicketPriority'>[];

/** Orders of the list of tickets, the one that is meant without a word first. */
export const ticketOrders = ['-lastReply', 'lastReply', '-created_at', 'created_at'] as const;

export const deliveryStates = [
  'waiting',
  'delivered',
  'failed',
] as const satisfies readonly Schema<'DeliveryState'>[];
export type DeliveryState = (typeof deliveryStates)[number];

/** Ways to a machine's console: its screen, and its serial line. */
export const consoleKinds = ['vnc', 'serial'] as const satisfies readonly Schema<'Console'>['type'][];
export type ConsoleKind = (typeof consoleKinds)[number];
