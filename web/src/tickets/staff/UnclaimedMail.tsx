import { useNavigate, useParams } from '@tanstack/react-router';
import { assignUnclaimedMail } from '../../../../client/generated/fields/assignUnclaimedMail.ts';
import { openTicketFromMail } from '../../../../client/generated/fields/openTicketFromMail.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { unclaimedMail } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { useText } from '../../text/index.ts';
import { Act, Facts, Group, Named, NamedChoice, Page, Section, Thing, Written } from '../../ui/index.ts';
import { Departments } from './Departments.tsx';

export function UnclaimedMail() {
  const { t } = useText();
  const navigate = useNavigate();
  const { id = '' } = useParams({ strict: false });
  const path = { id: Number(id) };
  const open = (tid: string) => navigate({ to: '/staff/tickets/$tid', params: { tid } });
  return (
    <Thing title={t('staff.unclaimed')} query={unclaimedMail(path)}>
      {({ mail }) => (
        <Page title={mail.subject ?? t('support.noSubject')}>
          <Group gap="xs">
            <Act
              operation="assignUnclaimedMail"
              fields={assignUnclaimedMail}
              label={t('support.toTicket')}
              onAct={async ({ tid = '', as }) => {
                const body = { tid, as: as as 'reply' | 'note' };
                const { ticket } = await client.post('/staff/unclaimed-mails/{id}/assign', { path, body });
                await open(ticket.tid);
              }}
            >
              <Named name="tid" />
              <NamedChoice name="as" />
            </Act>
            <Act
              operation="openTicketFromMail"
              fields={openTicketFromMail}
              label={t('support.openTicket')}
              onAct={async ({ organization_id: organization, department = '', priority, subject = '' }) => {
                const { ticket } = await client.post('/staff/unclaimed-mails/{id}/open', {
                  path,
                  body: {
                    ...{ organization_id: Number(organization), department, subject },
                    priority: priority as Schema<'TicketPriority'>,
                  },
                });
                await open(ticket.tid);
              }}
            >
              <Named name="organization_id" />
              <Named name="subject" value={mail.subject} />
              <Departments />
              <NamedChoice name="priority" value="medium" />
            </Act>
            <Act
              operation="getRawMail"
              label={t('support.saveMail')}
              onAct={async () =>
                saveFile(
                  await client.file('/staff/unclaimed-mails/{id}/raw', { path }),
                  `mail-${path.id}.eml`,
                )
              }
            />
            <Act
              operation="deleteUnclaimedMail"
              label={t('staff.delete')}
              text={t('support.deleteMailText')}
              isDangerous
              onAct={async () => {
                await client.delete('/staff/unclaimed-mails/{id}', { path });
                await navigate({ to: '/staff/unclaimed-mails' });
              }}
            />
          </Group>
          <Section title={t('support.mail')}>
            <Facts
              of={mail}
              names={[
                'from_name',
                'from_address',
                'return_path',
                'recipients',
                'received_at',
                'kind',
                'attachments',
              ]}
              cells={{ kind: () => t(`unclaimed.${mail.reason}`) }}
            />
            <Written>{mail.text ?? t('support.noText')}</Written>
            {mail.quoted !== null && (
              <details>
                <summary>{t('support.quoted')}</summary>
                <Written>{mail.quoted}</Written>
              </details>
            )}
          </Section>
        </Page>
      )}
    </Thing>
  );
}
