import { type Concern, type ConcernSource, statement } from '../platform/index.ts';
import { staffDeliveryWanted } from './events.ts';
import { kinds } from './kinds/table.ts';

const byHand = Object.values(kinds)
  .filter(({ deliver }) => deliver === staffDeliveryWanted)
  .map(({ id }) => id);

/** So long a mail may be under way: servers are away for days. */
const untoldDays = 3;

/** So long staff is told of traffic that nobody can reckon; then it is asked for by nobody. */
const unknownTrafficDays = 30;

/** Paid orders that are held, deliveries that failed, and what is a person's work. */
export const serviceConcerns: ConcernSource[] = [
  {
    kind: 'order.held',
    subject: 'invoice',
    title: 'Paid orders that wait for you',
    // One that was paid back or cancelled meanwhile waits for nobody.
    find: statement<Concern, { limit: number }>(
      'services.heldOrders',
      `select r.invoice_id as id, r.organization_id, r.held_at as since,
         'order ' || r.invoice_id || ' is paid and held: ' || array_to_string(r.reasons, '; ') as message
       from order_reviews r
       where r.status = 'held'
         and exists (select 1 from services s where s.invoice_id = r.invoice_id and s.status = 'pending')
       order by r.held_at desc, r.invoice_id desc limit :limit`,
    ),
  },
  {
    kind: 'delivery.failed',
    subject: 'service',
    title: 'Services whose delivery failed',
    find: statement<Concern, { limit: number }>(
      'services.failedDeliveries',
      `select id, organization_id, created_at as since, coalesce(domain, 'service ' || id) || ' was not delivered' as message
       from services where status = 'pending' and provisioning_state = 'failed'
       order by created_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'delivery.byHand',
    subject: 'service',
    title: 'Paid services that staff delivers',
    find: statement<Concern, { limit: number }>(
      'services.deliveriesByHand',
      `select s.id, s.organization_id, s.created_at as since, p.name || ' is paid and waits for its delivery' as message
       from services s join products p on p.id = s.product_id and p.module_id in (${byHand.join(', ')})
       where s.status = 'pending' and s.provisioning_state = 'running'
       order by s.created_at desc, s.id desc limit :limit`,
    ),
  },
  {
    kind: 'service.byHand',
    subject: 'service',
    title: 'Services that staff renews, changes, suspends, unsuspends or terminates by hand',
    find: statement<Concern, { limit: number }>(
      'services.tasksByHand',
      `select t.service_id as id, t.organization_id, t.since,
         coalesce(s.domain, p.name) || ' is ' || s.status || ' and waits for you to ' || t.task || ' it by hand' as message
       from service_tasks t join services s on s.id = t.service_id join products p on p.id = s.product_id
       order by t.since desc, t.service_id desc limit :limit`,
    ),
  },
  {
    kind: 'service.calendar',
    subject: 'service',
    title: 'Services that the calendar cannot go on with',
    find: statement<Concern, { limit: number }>(
      'services.calendarProblems',
      `select c.service_id as id, c.organization_id, c.problem_since as since,
         coalesce(s.domain, p.name) || ', due on ' || c.due_on || ': ' || c.problem as message
       from service_calendar c join services s on s.id = c.service_id join products p on p.id = s.product_id
       where c.problem is not null order by c.problem_since desc, c.service_id desc limit :limit`,
    ),
  },
  {
    kind: 'service.untold',
    subject: 'service',
    title: 'Services whose calendar waits for a mail that is not sent',
    find: statement<Concern, { limit: number; now: Date }>(
      'services.calendarUntold',
      `select c.service_id as id, c.organization_id, d.done_at as since,
         coalesce(s.domain, p.name) || ', due on ' || c.due_on || ': its customer could not be told of ' || c.warned_step
           || ', and nothing more happens until then' as message
       from service_calendar c
         join service_calendar_steps d on d.service_id = c.service_id and d.due_on = c.due_on and d.round = c.round
           and d.step = c.warned_step
         join services s on s.id = c.service_id join products p on p.id = s.product_id
       where c.warned_on is null and d.done_at < :now::timestamptz - make_interval(days => ${untoldDays})
         and not exists (select from mails m where m.journal_id = c.warning_id and m.state in ('sent', 'kept'))
       order by d.done_at desc, c.service_id desc limit :limit`,
    ),
  },
  {
    kind: 'service.traffic_unknown',
    subject: 'service',
    title: 'Services of whose traffic nobody knows the 95th percentile',
    find: statement<Concern, { limit: number; now: Date }>(
      'services.unknownTraffic',
      `select s.id, s.organization_id, max(t.settled_at) as since,
         coalesce(s.domain, p.name) || ' had traffic in ' || string_agg(to_char(t.month, 'YYYY-MM'), ', ' order by t.month)
           || ' of which there are no intervals of five minutes, so its 95th percentile is not known, and nothing is asked for it: invoice it by hand, or let it be until '
           || to_char(max(t.settled_at) + make_interval(days => ${unknownTrafficDays}), 'YYYY-MM-DD') || ', when this ends' as message
       from service_traffic t join services s on s.id = t.service_id join products p on p.id = s.product_id
       where t.is_unknown and t.settled_at > :now::timestamptz - make_interval(days => ${unknownTrafficDays})
       group by s.id, s.organization_id, s.domain, p.name
       order by max(t.settled_at) desc, s.id desc limit :limit`,
    ),
  },
];
