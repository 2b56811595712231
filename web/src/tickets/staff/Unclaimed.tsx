import type { Schema } from '../../../../client/index.ts';
import { unclaimedMails } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, ListPage, useColumns } from '../../ui/index.ts';

/** Mails that are no ticket's until somebody says whose. */
export function Unclaimed() {
  const { t } = useText();
  const columns = useColumns<Schema<'UnclaimedMailSummary'>>(
    ['subject', 'from_address', 'kind', 'received_at'],
    {
      subject: ({ id, subject }) => (
        <LinkTo to="/staff/unclaimed-mails/$id" params={{ id: String(id) }}>
          {subject ?? t('support.noSubject')}
        </LinkTo>
      ),
      kind: ({ reason }) => t(`unclaimed.${reason}`),
    },
  );
  return (
    <ListPage
      title={t('staff.unclaimed')}
      empty={t('empty.unclaimed')}
      text={t('support.unclaimedText')}
      list={unclaimedMails}
      columns={columns}
    />
  );
}
