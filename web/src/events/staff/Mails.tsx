import { useParams } from '@tanstack/react-router';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { mail as mailQuery, mails } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Facts, LinkTo, ListPage, Page, Section, Thing, useColumns, Written } from '../../ui/index.ts';

export function Mails() {
  const { t } = useText();
  const columns = useColumns<Schema<'Mail'>>(
    ['subject', 'recipient', 'state', 'event', 'created_at', 'sent_at'],
    {
      subject: ({ id, subject }) => (
        <LinkTo to="/staff/mails/$id" params={{ id: String(id) }}>
          {subject}
        </LinkTo>
      ),
      state: ({ state }) => t(`running.mail_${state}`),
    },
  );
  return (
    <ListPage
      title={t('staff.mails')}
      empty={t('empty.mails')}
      list={mails}
      filters={[{ name: 'recipient' }]}
      columns={columns}
    />
  );
}

/** A mail as text: nothing in it runs or is fetched. */
export function Mail() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  const path = { id: Number(id) };
  return (
    <Thing title={t('staff.mails')} query={mailQuery(path)}>
      {({ mail }) => (
        <Page
          title={mail.subject}
          aside={
            <Act
              operation="sendMailAgain"
              label={t('staff.sendAgain')}
              text={t('running.sendAgainText', { recipient: mail.recipient })}
              onAct={() => client.post('/staff/mails/{id}/send-again', { path })}
            />
          }
        >
          <Section title={t('support.mail')}>
            <Facts
              of={mail}
              names={[
                'recipient',
                'state',
                'event',
                'language',
                'sendings',
                'created_at',
                'sent_at',
                'error',
                'answer',
              ]}
              cells={{ state: ({ state }) => t(`running.mail_${state}`) }}
            />
          </Section>
          <Section title={t('running.text')}>
            <Written>{mail.body}</Written>
          </Section>
        </Page>
      )}
    </Thing>
  );
}
