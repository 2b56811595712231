import { permissions } from '../organizations/index.ts';

// What is written in tickets is of every area, so keys that are kept to some areas do not read it.
const ticketPermissions = permissions('all', {
  'ticket.read': ['billing', 'technical', 'support', 'viewer'],
  'ticket.write': ['billing', 'technical', 'support'],
});

type TicketPermissions = typeof ticketPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends TicketPermissions {}
}
