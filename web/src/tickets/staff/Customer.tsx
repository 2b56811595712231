import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schema } from '../../../../client/index.ts';
import { staffService } from '../../data/queries/staff/index.ts';
import { moment, money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Bullets, Facts, LinkTo, Refusal, Section, Skeleton, Stack, useWord } from '../../ui/index.ts';

type StaffTicket = Schema<'StaffTicket'>;

/** Whose ticket it is, and what else there is of them. */
export function Customer({ ticket }: { ticket: StaffTicket }) {
  const { t, language } = useText();
  const word = useWord();
  const { customer, organization } = ticket;
  return (
    <Stack gap="md">
      <Section title={t('support.about')}>
        <Facts
          of={ticket}
          names={[
            'organization',
            'user',
            'tid',
            'department',
            'priority',
            'assigned',
            'due_at',
            'created_at',
          ]}
          cells={{
            organization: () => (
              <LinkTo to="/staff/organizations/$id" params={{ id: String(organization.id) }}>
                {organization.name}
              </LinkTo>
            ),
          }}
        />
      </Section>
      {ticket.service_id !== null && <Concerned id={ticket.service_id} />}
      <Few title={t('support.services')} of={customer.services}>
        {(each) => (
          <>
            <LinkTo to="/staff/services/$id" params={{ id: String(each.id) }}>
              {each.domain ?? each.product}
            </LinkTo>{' '}
            · {word(each.status)}
          </>
        )}
      </Few>
      <Few title={t('support.openInvoices')} of={customer.open_invoices}>
        {(each) => (
          <LinkTo to="/staff/invoices/$id" params={{ id: String(each.id) }}>
            {money(each.due, each.currency, language)}
          </LinkTo>
        )}
      </Few>
      <Few title={t('support.failedActions')} of={customer.failed_actions}>
        {(each) => `${each.command}: ${each.message ?? ''} · ${moment(each.created_at, language)}`}
      </Few>
      <Few title={t('support.lastTickets')} of={customer.tickets.map((each) => ({ ...each, id: each.tid }))}>
        {(each) => (
          <>
            <LinkTo to="/staff/tickets/$tid" params={{ tid: each.tid }}>
              {each.subject}
            </LinkTo>{' '}
            · {word(each.status)}
          </>
        )}
      </Few>
    </Stack>
  );
}

/** The service that a ticket is about. */
function Concerned({ id }: { id: number }) {
  const { t } = useText();
  const { data, error, refetch } = useQuery(staffService({ id }));
  const found = data?.service;
  return (
    <Section title={t('support.service')}>
      {error !== null && <Refusal error={error} onRetry={() => void refetch()} />}
      {found === undefined && error === null && <Skeleton height={90} />}
      {found !== undefined && (
        <>
          <LinkTo
            to="/staff/services/$id"
            params={{ id: String(id) }}
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {found.domain ?? found.product.name}
          </LinkTo>
          <Facts of={found} names={['status', 'product', 'primary_ip', 'duedate']} />
        </>
      )}
    </Section>
  );
}

interface FewProps<Item> {
  title: string;
  of: readonly Item[];
  children: (item: Item) => ReactNode;
}

function Few<Item extends { id: string | number }>({ title, of, children }: FewProps<Item>) {
  if (of.length === 0) return null;
  return (
    <Section title={title}>
      <Bullets size="sm" spacing={4} styles={{ item: { overflowWrap: 'anywhere' } }}>
        {of.map((each) => (
          <Bullets.Item key={each.id}>{children(each)}</Bullets.Item>
        ))}
      </Bullets>
    </Section>
  );
}
