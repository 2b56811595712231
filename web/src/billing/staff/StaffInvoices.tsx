import { issueInvoice } from '../../../../client/generated/fields/issueInvoice.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { staffInvoices } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { invoiceStates } from '../../data/states.ts';
import { useText } from '../../text/index.ts';
import { Act, LinkTo, ListPage, Named, NamedLong, OwnCurrency, useColumns } from '../../ui/index.ts';

/** How many lines an invoice by hand may have here. */
const lines = [1, 2, 3] as const;

export function StaffInvoices() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffInvoice'>>(
    ['number', 'organization', 'kind', 'status', 'total', 'amount_due', 'duedate', 'created_at'],
    {
      number: ({ id, number }) => (
        <LinkTo to="/staff/invoices/$id" params={{ id: String(id) }}>
          {number ?? t('billing.unnumbered', { id })}
        </LinkTo>
      ),
      organization: ({ organization: { id, name } }) => (
        <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.invoices')}
      empty={t('empty.invoices')}
      list={staffInvoices}
      filters={[{ name: 'search' }, { name: 'status', of: invoiceStates }, { name: 'organization_id' }]}
      columns={columns}
      aside={
        <>
          <Act
            operation="exportInvoicesAsStaff"
            label={t('money.export')}
            size="sm"
            onAct={async ({ from, until: to }) =>
              saveFile(await client.file('/staff/invoices/export', { query: { from, to } }), 'invoices.csv')
            }
          >
            <Named name="from" type="date" isOptional />
            <Named name="until" type="date" isOptional />
          </Act>
          <Act
            operation="issueInvoice"
            fields={issueInvoice}
            label={t('money.issue')}
            text={t('money.issueText')}
            size="sm"
            isFirst
            onAct={({ organization_id: organization, currency = '', duedate, note, ...values }) =>
              client.post('/staff/invoices', {
                body: {
                  ...{ organization_id: Number(organization), currency, duedate, note },
                  lines: lines
                    .map((line) => ({
                      description: values[`description_${line}`] ?? '',
                      unit_price: values[`unit_price_${line}`] ?? '',
                    }))
                    .filter(({ description, unit_price: price }) => description !== '' || price !== ''),
                },
              })
            }
          >
            <Named name="organization_id" />
            <OwnCurrency />
            {lines.map((line) => (
              <Line key={line} line={line} />
            ))}
            <Named name="duedate" type="date" isOptional />
            <NamedLong name="note" isOptional />
          </Act>
        </>
      }
    />
  );
}

function Line({ line }: { line: number }) {
  return (
    <>
      <Named name="description" as={`description_${line}`} number={line} isOptional={line > 1} />
      <Named name="unit_price" as={`unit_price_${line}`} number={line} isOptional={line > 1} />
    </>
  );
}
