import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { cancelInvoiceAsStaff } from '../../../../client/generated/fields/cancelInvoiceAsStaff.ts';
import { correctInvoice } from '../../../../client/generated/fields/correctInvoice.ts';
import { receiveBankTransfer } from '../../../../client/generated/fields/receiveBankTransfer.ts';
import { refundInvoice } from '../../../../client/generated/fields/refundInvoice.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { choicesOf } from '../../data/fields.ts';
import { refunds, staffInvoice } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Bullets,
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
  Tick,
  Trial,
  Unfold,
  useColumns,
  useWord,
  type Values,
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
          items.some(({ setup_fee: fee }) => Number(fee) !== 0)
            ? ['description', 'quantity', 'unit_price', 'price', 'setup_fee']
            : ['description', 'quantity', 'unit_price', 'price'],
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
        empty={<Text c="dimmed">{t('empty.lines')}</Text>}
      />
      <Section title={t('billing.payments')}>
        <List
          label={t('billing.payments')}
          items={payments}
          keyOf={(payment) => payment.id}
          columns={ofPayments}
          error={null}
          onRetry={() => undefined}
          empty={<Text c="dimmed">{t('empty.paymentsOf')}</Text>}
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
    <StaffList
      label={t('staff.refunds')}
      empty={t('empty.refundsOfInvoice')}
      query={refunds({ invoice_id: invoiceId })}
      columns={columns}
    />
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
        fields={receiveBankTransfer}
        label={t('money.received')}
        text={t('money.receivedText')}
        action={invoice.actions.pay}
        onAct={({ amount = '', reference = '', received_on: received, is_another: another }) =>
          client.post('/staff/invoices/{id}/payments', {
            path,
            body: { amount, reference, received_on: received, ...(another && { is_another: true }) },
          })
        }
      >
        <Named name="amount" value={invoice.amount_due} />
        <Named name="reference" value={invoice.payment_reference} />
        <Named name="received_on" type="date" isOptional />
        <Tick name="is_another" label={t('money.isAnother')} />
      </Act>
      <Act
        operation="refundInvoice"
        fields={refundInvoice}
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
        <Way of={invoice} />
        <NamedLong name="reason" />
        <RefundTrial of={invoice} />
      </Act>
      <Act
        operation="correctInvoice"
        fields={correctInvoice}
        label={t('money.correct')}
        text={t('money.correctText')}
        isDangerous
        onAct={(values) => client.post('/staff/invoices/{id}/correct', { path, body: correctionIn(values) })}
      >
        <Corrected items={invoice.items} />
        <Way of={invoice} />
        <NamedLong name="reason" />
        <CorrectionTrial of={invoice} />
      </Act>
      <Act
        operation="cancelInvoiceAsStaff"
        fields={cancelInvoiceAsStaff}
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

/** As credit unless something came that could go back to where it was. */
function Way({ of: { payments } }: { of: Invoice }) {
  const { t } = useText();
  const isOurs = payments.every(({ method }) => ['credit', 'bank_transfer', 'none'].includes(method));
  return (
    <NamedChoice
      name="method"
      value={isOurs ? 'credit' : 'original'}
      of={choicesOf(refundInvoice.method, (value) =>
        t(value === 'original' ? 'money.toOriginal' : 'money.toCredit'),
      )}
    />
  );
}

/** Why is written last, and what happens does not depend on it. */
const untold = '…';
const reasonAlone = ['reason'];

/** What a refund would give back where, before anybody confirms it. */
function RefundTrial({ of: { id, items } }: { of: Invoice }) {
  const { t, language } = useText();
  const word = useWord();
  return (
    <Trial
      label={t('money.trialRefund')}
      about={['staff', 'invoices', id]}
      besides={reasonAlone}
      ask={({ amount, method }) =>
        client.post('/staff/invoices/{id}/refund', {
          path: { id },
          body: { amount, reason: untold, method: method as Way, dry_run: true },
        })
      }
    >
      {({ returned, credit_note: note, invoice, stays }) => (
        <>
          {returned.map(({ method, amount, currency, fee, fee_currency: feeIn }, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they are told in their order, and nothing of them is kept.
            <Text size="sm" key={nth} fw={600}>
              {t(method === 'credit' ? 'money.backToCredit' : 'money.backToOriginal', {
                amount: money(amount, currency, language),
              })}
              {fee !== null && Number(fee) > 0 && (
                <Text span fw={400}>
                  . {t('money.feeStays', { fee: money(fee, feeIn, language) })}
                </Text>
              )}
            </Text>
          ))}
          <Text size="sm">{note === null ? t('money.noCreditNote') : <Note of={note} />}</Text>
          <Text size="sm">{t('money.becomes', { status: word(invoice.status) })}</Text>
          {stays.length > 0 && (
            <>
              <Text size="sm">{t('money.staysOn')}</Text>
              <Bullets size="sm">
                {stays.map(({ service_id: service, message }) => (
                  <Bullets.Item key={service}>
                    {items.find((item) => item.service_id === service)?.description ??
                      t('services.untitled', { id: service })}
                    : {message}
                  </Bullets.Item>
                ))}
              </Bullets>
            </>
          )}
        </>
      )}
    </Trial>
  );
}

function Note({ of: note }: { of: { series: string; total: string; tax: string; currency: string } }) {
  const { t, language } = useText();
  const amount = (text: string) => money(text, note.currency, language);
  return t('money.creditNote', { series: note.series, total: amount(note.total), tax: amount(note.tax) });
}

function CorrectionTrial({ of: { id } }: { of: Invoice }) {
  const { t, language } = useText();
  const word = useWord();
  return (
    <Trial
      label={t('money.trialCorrect')}
      about={['staff', 'invoices', id]}
      besides={reasonAlone}
      ask={(values) =>
        client.post('/staff/invoices/{id}/correct', {
          path: { id },
          body: { ...correctionIn({ ...values, reason: untold }), dry_run: true },
        })
      }
    >
      {({ credit_note: { total, tax, currency }, invoice }) => (
        <>
          <Text size="sm" fw={600}>
            {t('money.noteTotal', {
              total: money(total, currency, language),
              tax: money(tax, currency, language),
            })}
          </Text>
          <Text size="sm">{t('money.becomes', { status: word(invoice.status) })}</Text>
        </>
      )}
    </Trial>
  );
}

/** A correction that was typed. */
function correctionIn({ line, amount, reason = '', method }: Values): Schema<'InvoiceCorrection'> {
  return {
    ...{ reason, method: method as Way },
    ...(line !== undefined && { lines: [{ line: Number(line), amount }] }),
  };
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
