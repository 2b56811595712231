import { Text } from '@mantine/core';
import type { Schema } from '../../../client/index.ts';
import { useHappened } from '../text/happened.ts';
import { isText, useText } from '../text/index.ts';
import { LinkTo } from './LinkTo.tsx';
import type { Column } from './List.tsx';
import { useColumns } from './Value.tsx';

type Entry = Schema<'AuditEntry'>;

/** What happened leads, then to what, by whom and whose it is; what the entry holds besides is unfolded. */
export function useAuditColumns(besides: readonly ('organization' | 'data')[]): readonly Column<Entry>[] {
  const { t } = useText();
  const happened = useHappened();
  return useColumns<Entry>(['action', 'subject', 'actor', ...besides, 'created_at'], {
    action: (entry) => (
      <div>
        {happened(entry)}
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {entry.action}
        </Text>
      </div>
    ),
    subject: ({ subject }) => <Subject of={subject} />,
    actor: ({ actor: { type, user_id: id, email } }) =>
      id !== null && email !== null ? (
        <LinkTo to="/staff/users/$id" params={{ id: String(id) }}>
          {email}
        </LinkTo>
      ) : (
        t(`running.actor_${type}`)
      ),
    data: ({ data }) =>
      Object.keys(data).length > 0 && (
        <details>
          <summary>{t('running.showData')}</summary>
          <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {JSON.stringify(data, null, 1)}
          </Text>
        </details>
      ),
  });
}

/** Where staff sees to a kind of thing. */
const pages = {
  user: '/staff/users/$id',
  staff: '/staff/users/$id',
  organization: '/staff/organizations/$id',
  service: '/staff/services/$id',
  vps: '/staff/services/$id',
  invoice: '/staff/invoices/$id',
  product: '/staff/products/$id',
  price_move: '/staff/price-moves/$id',
  mail: '/staff/mails/$id',
  bank_statement: '/staff/bank-statements/$id',
} as const;

function Subject({ of: { type, id, name } }: { of: Entry['subject'] }) {
  const { t } = useText();
  const kind = isText(`subject.${type}`) ? t(`subject.${type as 'user'}`) : type;
  const called = name ?? `${kind} ${id}`;
  const to = type in pages ? pages[type as keyof typeof pages] : undefined;
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      {to === undefined ? (
        called
      ) : (
        <LinkTo to={to} params={{ id: String(id) }}>
          {called}
        </LinkTo>
      )}
      {name !== null && (
        <Text size="xs" c="dimmed">
          {kind}
        </Text>
      )}
    </div>
  );
}
