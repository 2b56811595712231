import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { createTicket } from '../../../client/generated/fields/createTicket.ts';
import type { BodyOf, OperationAt } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { choicesOf } from '../data/fields.ts';
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

export function NewTicket() {
  const { t } = useText();
  const navigate = useNavigate();
  const { request, service: about } = useSearch({ from: '/in/tickets/new' });
  const queries = useQueryClient();
  const offered = useQuery(departments);
  const mine = useInfiniteQuery(services());
  const owned = mine.data?.pages[0]?.services ?? [];
  const [department, setDepartment] = useState('');
  const chosen = offered.data?.find(({ slug }) => slug === department) ?? offered.data?.[0];
  const send = async (
    { subject = '', department = '', priority = 'medium', message = '', service_id }: Values,
    files: Files,
  ) => {
    const draft = {
      subject,
      department,
      priority,
      message,
      attachments: attachmentsOf(files),
      ...(service_id && { service_id: Number(service_id) }),
    };
    const { ticket } = await client.post('/dashboard/tickets/create', { body: draft as Draft });
    await queries.invalidateQueries({ queryKey: ['tickets'] });
    await navigate({ to: '/tickets/$tid', params: { tid: ticket.tid } });
  };
  return (
    <Page title={t('tickets.new')}>
      <Refusal error={offered.error} onRetry={() => void offered.refetch()} />
      <Form fields={createTicket} submit={t('tickets.send')} draft="ticket" onSubmit={send}>
        <Choice
          name="department"
          label={t('tickets.department')}
          help={chosen?.description}
          onChoose={setDepartment}
          choices={(offered.data ?? []).map(({ slug, name }) => ({ value: slug, label: name }))}
        />
        <Choice
          name="priority"
          label={t('tickets.priority')}
          defaultValue="medium"
          choices={choicesOf(createTicket.priority, (value) => t(`tickets.${value}`))}
        />
        <Choice
          // What is chosen at first counts when the field is made, and the services come later than the form.
          key={String(mine.isSuccess)}
          name="service_id"
          label={t('tickets.service')}
          required={false}
          defaultValue={about?.toString()}
          choices={[
            { value: '', label: t('tickets.noService') },
            ...owned.map(({ id, hostname, domain }) => ({
              value: String(id),
              label: hostname ?? domain ?? t('services.untitled', { id }),
            })),
          ]}
        />
        <Field
          name="subject"
          label={t('tickets.subject')}
          defaultValue={request && t('tickets.requestSubject')}
        />
        <LongField
          name="message"
          label={t('tickets.message')}
          help={t('tickets.markdownHelp')}
          rows={8}
          defaultValue={request && t('tickets.requestMessage', { id: request })}
        />
        <FileField name="attachments" label={t('tickets.files')} />
      </Form>
    </Page>
  );
}
