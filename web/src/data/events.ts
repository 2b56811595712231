import type { QueryClient } from '@tanstack/react-query';
import type { EventName } from '../../../client/index.ts';

/** What of that which was read is read anew when something happened. An event without a line does not compile. */
const followUps: Readonly<Record<EventName, readonly string[]>> = {
  'credit.granted': ['invoices'],
  'dedicated.action.failed': ['dedicated'],
  'dedicated.action.started': ['dedicated'],
  'dedicated.action.succeeded': ['dedicated'],
  'dedicated.console.opened_by_staff': [],
  'dedicated.moved': ['dedicated', 'services'],
  'dedicated.out_of_order': ['dedicated'],
  'dedicated.in_order': ['dedicated'],
  'invoice.cancelled': ['invoices', 'services'],
  'invoice.created': ['invoices', 'services'],
  'invoice.expired': ['invoices', 'services'],
  'invoice.overdue': ['invoices'],
  'invoice.paid': ['invoices', 'services', 'session'],
  'invoice.part_paid': ['invoices'],
  'invoice.refunded': ['invoices', 'services', 'session'],
  'member.invited': ['invitations'],
  'member.joined': ['session', 'members', 'invitations'],
  'member.removed': ['session', 'members'],
  'service.cancel_revoked': ['services'],
  'service.cancel_scheduled': ['services'],
  'service.cancelled': ['services'],
  'service.failed': ['services', 'vps', 'dedicated'],
  'service.product_changed': ['services', 'vps'],
  'service.provisioned': ['services', 'vps', 'dedicated'],
  'service.renewed': ['services', 'invoices'],
  'service.suspended': ['services', 'vps', 'dedicated'],
  'service.terminated': ['services', 'vps', 'dedicated'],
  'service.traffic_used': ['dedicated'],
  'service.unsuspended': ['services', 'vps', 'dedicated'],
  'service.updated': ['services'],
  'service.upgraded': ['services', 'vps'],
  'shield.address.changed': ['shield', 'vps', 'dedicated'],
  'shield.addresses.given_back': ['shield', 'vps', 'dedicated'],
  'shield.attack.ended': ['shield', 'vps', 'dedicated'],
  'shield.attack.started': ['shield', 'vps', 'dedicated'],
  'shield.attack.updated': ['shield'],
  'shield.group.deleted': ['shield', 'vps', 'dedicated'],
  'shield.group.made': ['shield', 'vps', 'dedicated'],
  'shield.group.renewed': ['shield', 'vps', 'dedicated'],
  'shield.limiter.changed': ['shield'],
  'shield.limiter.created': ['shield'],
  'shield.limiter.deleted': ['shield'],
  'shield.mitigation.released': ['shield'],
  'shield.mitigation.started': ['shield'],
  'shield.policy.applied': ['shield', 'vps', 'dedicated'],
  'shield.rule.changed': ['shield', 'vps', 'dedicated'],
  'shield.rule.created': ['shield', 'vps', 'dedicated'],
  'shield.rule.deleted': ['shield', 'vps', 'dedicated'],
  'shield.rule.disabled': ['shield', 'vps', 'dedicated'],
  'shield.rule.enabled': ['shield', 'vps', 'dedicated'],
  'shield.rule.expired': ['shield', 'vps', 'dedicated'],
  'shield.trial.cancelled': ['shield'],
  'shield.trial.confirmed': ['shield', 'vps', 'dedicated'],
  'shield.trial.started': ['shield'],
  'ticket.changed': ['tickets'],
  'ticket.closed': ['tickets'],
  'ticket.created': ['tickets'],
  'ticket.reopened': ['tickets'],
  'ticket.replied': ['tickets'],
  'ticket.subject_changed': ['tickets'],
  'vps.action.failed': ['vps', 'services'],
  'vps.action.started': ['vps'],
  'vps.action.succeeded': ['vps', 'services'],
  'vps.move.planned': ['vps'],
  'vps.move.ended': ['vps', 'services'],
  'vps.recovered': ['vps', 'services'],
};

/** Whatever happens may be somebody's to see to, and stands in what happened. */
const always = ['needs', 'activity'];

export const eventNames = Object.keys(followUps) as EventName[];

export function isEventName(name: string): name is EventName {
  return name in followUps;
}

/** How long what happens is gathered before pages read anew: a night renews thousands of services one after the other. */
const gatherMs = 100;
const stale = new Set<string>();
/** An edge does what is wanted within about a second, of which no event tells. */
const atEdgeMs = 1_500;

export function followEvent(queries: QueryClient, name: EventName): void {
  if (stale.size === 0)
    setTimeout(() => {
      for (const kind of stale) void queries.invalidateQueries({ queryKey: [kind] });
      stale.clear();
    }, gatherMs);
  for (const kind of [...followUps[name], ...always]) stale.add(kind);
  if (name.startsWith('shield.'))
    setTimeout(() => void queries.invalidateQueries({ queryKey: ['shield', 'now'] }), atEdgeMs);
}

/** How far an action on a machine has come, which is told without an entry of the journal. */
export const progress = 'vps.action.progress';

export function followProgress(queries: QueryClient, service: number): void {
  // Charts draw what was measured, which an action does not change.
  void queries.invalidateQueries({
    queryKey: ['vps', service],
    predicate: ({ queryKey }) => queryKey[2] !== 'charts',
  });
}

export function followReset(queries: QueryClient): void {
  void queries.invalidateQueries();
}
