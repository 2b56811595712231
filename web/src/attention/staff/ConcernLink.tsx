import type { Schema } from '../../../../client/index.ts';
import { useText } from '../../text/index.ts';
import { LinkTo } from '../../ui/index.ts';

/** Lists on which something stands that has no page of its own. */
const lists = {
  node: '/staff/nodes',
  image: '/staff/images',
  job: '/staff/jobs',
  row: '/staff/jobs',
  ticket: '/staff/tickets',
  bank_entry: '/staff/bank-statements',
  dispute: '/staff/disputes',
  payout: '/staff/payouts',
  unknown_payment: '/staff/unknown-payments',
} as const;

/** Pages of what can be about something that needs a person. */
const pages = {
  service: '/staff/services/$id',
  invoice: '/staff/invoices/$id',
  organization: '/staff/organizations/$id',
  mail: '/staff/mails/$id',
  ticket_mail: '/staff/unclaimed-mails/$id',
  cluster: '/staff/clusters/$id',
  unknown_machine: '/staff/unknown-machines/$id',
  switch: '/staff/switches/$id',
  rack: '/staff/racks/$id',
  server: '/staff/servers/$id',
} as const;

/** Leads to what it is about; nothing where there is no page that says more. */
export function ConcernLink({ concern: { kind, subject } }: { concern: Schema<'Concern'> }) {
  const { t } = useText();
  const { type, id } = subject;
  if (type in pages && kind !== 'ticket_mail.none_come')
    return (
      <LinkTo to={pages[type as keyof typeof pages]} params={{ id: String(id) }}>
        {t('staff.look')}
      </LinkTo>
    );
  if (type in lists) return <LinkTo to={lists[type as keyof typeof lists]}>{t('staff.look')}</LinkTo>;
  return null;
}
