import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { refunds, staffInvoice } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  LinkTo,
  List,
  Named,
  NamedChoice,
  NamedLong,
  Page,
  Section,
  StaffList,
  State,
  Text,
  Thing,
  Unfold,
  useColumns,
} from '../../ui/index.ts';

type Invoice = Schema<'StaffInvoice'>;
type Way = 'credit' | 'original';

export function StaffInvoice() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('billing.unnumbered', { id })} query={staffInvoice({ id: Number(id) })}>
      {({ invoice }) => <Shown of={invoice} />}
    </Thing>
  );
}

function Shown({ of: invoice }: { of: Invoice }) {
  const { t, language } = useText();
  const { id, number, currency, items, payments } = invoice;
  const title = number === null ? t('billing.unnumbered', { id }) : t('billing.invoice', { number });
  const ofPayments = useColumns<Invoice['payments'][number]>(
    ['method', 'reference', 'received_on', 'amount', 'created_at'],
    {
      amount: ({ amount }) => money(amount, currency, language),
    },
  );
  return (
    <Page title={title} aside={<State of={invoice.overdue ? 'overdue' : invoice.status} />}>
      <Acts of={invoice} />
      <Section title={t('money.invoice')}>
        <Facts
          of={invoice}
          names={[
            ...([
              'organization',
              'kind',
              'payment_reference',
              'created_at',
              'issued_at',
              'duedate',
              'date_paid',
            ] as const),
            ...(['subtotal', 'tax', 'total', 'amount_paid', 'amount_due', 'credited', 'refunded'] as const),
            ...(['tax_rate', 'tax_country', 'tax_treatment', 'reason', 'note'] as const),
          ]}
          cells={{
            organization: ({ organization }) => (
              <LinkTo to="/staff/organizations/$id" params={{ id: String(organization.id) }}>
                {organization.name}
              </LinkTo>
            ),
          }}
        />
      </Section>
      <List
        label={t('money.lines')}
        items={items.map((item, index) => ({ ...item, id: index, currency }))}
        keyOf={(item) => item.id}
        columns={useColumns<Invoice['items'][number] & { currency: string }>(
          ['description', 'quantity', 'unit_price', 'price'],
          {
            description: ({ description, service_id: service }) =>
              service === null ? (
                description
              ) : (
                <LinkTo to="/staff/services/$id" params={{ id: String(service) }}>
                  {description}
                </LinkTo>
              ),
          },
        )}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('staff.nothing')}</Text>}
      />
      <Section title={t('billing.payments')}>
        <List
          label={t('billing.payments')}
          items={payments}
          keyOf={(payment) => payment.id}
          columns={ofPayments}
          error={null}
          onRetry={() => undefined}
          empty={<Text c="dimmed">{t('staff.nothing')}</Text>}
        />
      </Section>
      <Unfold title={t('staff.refunds')}>
        <Refunds invoiceId={id} />
      </Unfold>
    </Page>
  );
}

function Refunds({ invoiceId }: { invoiceId: number }) {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffRefund'>>(['method', 'state', 'amount', 'reason', 'created_at']);
  return (
    <StaffList label={t('staff.refunds')} query={refunds({ invoice_id: invoiceId })} columns={columns} />
  );
}

function Acts({ of: invoice }: { of: Invoice }) {
  const { t, language } = useText();
  const path = { id: invoice.id };
  const name = invoice.number ?? String(invoice.id);
  return (
    <Group gap="xs">
      <Act
        operation="receiveBankTransfer"
        label={t('money.received')}
        text={t('money.receivedText')}
        action={invoice.actions.pay}
        onAct={({ amount = '', reference = '', received_on: received }) =>
          client.post('/staff/invoices/{id}/payments', {
            path,
            body: { amount, reference, received_on: received },
          })
        }
      >
        <Named name="amount" value={invoice.amount_due} />
        <Named name="reference" value={invoice.payment_reference} />
        <Named name="received_on" type="date" isOptional />
      </Act>
      <Act
        operation="refundInvoice"
        label={t('money.refund')}
        text={t('money.refundText', { paid: money(invoice.amount_paid, invoice.currency, language) })}
        isDangerous
        onAct={({ amount, reason = '', method }) =>
          client.post('/staff/invoices/{id}/refund', {
            path,
            body: { amount, reason, method: method as Way },
          })
        }
      >
        <Named name="amount" isOptional help={t('money.wholeHelp')} />
        <Way />
        <NamedLong name="reason" />
      </Act>
      <Act
        operation="correctInvoice"
        label={t('money.correct')}
        text={t('money.correctText')}
        isDangerous
        onAct={({ line, amount, reason = '', method }) =>
          client.post('/staff/invoices/{id}/correct', {
            path,
            body: {
              ...{ reason, method: method as Way },
              ...(line !== undefined && { lines: [{ line: Number(line), amount }] }),
            },
          })
        }
      >
        <Corrected items={invoice.items} />
        <Way />
        <NamedLong name="reason" />
      </Act>
      <Act
        operation="cancelInvoiceAsStaff"
        label={t('money.cancel')}
        text={t('money.cancelText')}
        action={invoice.actions.cancel}
        isDangerous
        onAct={({ reason = '' }) => client.post('/staff/invoices/{id}/cancel', { path, body: { reason } })}
      >
        <NamedLong name="reason" />
      </Act>
      <Act
        operation="getInvoicePdfAsStaff"
        label={t('billing.pdf')}
        onAct={async () => saveFile(await client.file('/staff/invoices/{id}/pdf', { path }), `${name}.pdf`)}
      />
      <Act
        operation="getElectronicInvoiceAsStaff"
        label={t('billing.xml')}
        onAct={async () => saveFile(await client.file('/staff/invoices/{id}/xml', { path }), `${name}.xml`)}
      />
    </Group>
  );
}

function Way() {
  const { t } = useText();
  return (
    <NamedChoice
      name="method"
      of={[
        { value: 'original', label: t('money.toOriginal') },
        { value: 'credit', label: t('money.toCredit') },
      ]}
    />
  );
}

/** Which line, and how much of it: an amount is of a line, and without one it would be the whole invoice. */
function Corrected({ items }: { items: readonly { description: string }[] }) {
  const { t } = useText();
  const [line, setLine] = useState('');
  return (
    <>
      <NamedChoice
        name="line"
        isOptional
        help={t('money.lineHelp')}
        onChoose={setLine}
        of={items.map(({ description }, index) => ({
          value: String(index + 1),
          label: `${index + 1}. ${description.slice(0, 60)}`,
        }))}
      />
      {line !== '' && <Named name="amount" isOptional help={t('money.wholeHelp')} />}
    </>
  );
}
