import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { BodyOf, OperationAt } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { departments, services } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  Choice,
  Field,
  FileField,
  type Files,
  Form,
  LongField,
  Page,
  Refusal,
  type Values,
} from '../ui/index.ts';
import { attachmentsOf } from './files.ts';

type Draft = BodyOf<OperationAt<'post', '/dashboard/tickets/create'>>;

const priorities = ['low', 'medium', 'high', 'urgent'] as const;

export function NewTicket() {
  const { t } = useText();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const offered = useQuery(departments);
  const mine = useInfiniteQuery(services());
  const send = async (
    { subject = '', department = '', priority = 'medium', message = '', service_id }: Values,
    files: Files,
  ) => {
    const attachments = await attachmentsOf(files.attachments ?? []);
    const draft = {
      subject,
      department,
      priority,
      message,
      attachments,
      ...(service_id && { service_id: Number(service_id) }),
    };
    const { ticket } = await client.post('/dashboard/tickets/create', { body: draft as Draft });
    await queries.invalidateQueries({ queryKey: ['tickets'] });
    await navigate({ to: '/tickets/$tid', params: { tid: ticket.tid } });
  };
  return (
    <Page title={t('tickets.new')}>
      <Refusal error={offered.error} onRetry={() => void offered.refetch()} />
      <Form submit={t('tickets.send')} onSubmit={send}>
        <Choice
          name="department"
          label={t('tickets.department')}
          choices={(offered.data ?? []).map(({ slug, name }) => ({ value: slug, label: name }))}
        />
        <Choice
          name="priority"
          label={t('tickets.priority')}
          defaultValue="medium"
          choices={priorities.map((value) => ({ value, label: t(`tickets.${value}`) }))}
        />
        <Choice
          name="service_id"
          label={t('tickets.service')}
          required={false}
          choices={[
            { value: '', label: '' },
            ...(mine.data?.pages[0]?.services ?? []).map(({ id, hostname, domain }) => ({
              value: String(id),
              label: hostname ?? domain ?? t('services.untitled', { id }),
            })),
          ]}
        />
        <Field name="subject" label={t('tickets.subject')} maxLength={200} />
        <LongField name="message" label={t('tickets.message')} />
        <FileField name="attachments" label={t('tickets.files')} />
      </Form>
    </Page>
  );
}
