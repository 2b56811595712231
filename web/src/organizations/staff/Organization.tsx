import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { blockOrganization } from '../../../../client/generated/fields/blockOrganization.ts';
import { bookBankTransfer } from '../../../../client/generated/fields/bookBankTransfer.ts';
import { correctOrganization } from '../../../../client/generated/fields/correctOrganization.ts';
import { grantAccountCredit } from '../../../../client/generated/fields/grantAccountCredit.ts';
import { promisePaymentOfOrganization } from '../../../../client/generated/fields/promisePaymentOfOrganization.ts';
import { returnCredit } from '../../../../client/generated/fields/returnCredit.ts';
import { updateTaxStanding } from '../../../../client/generated/fields/updateTaxStanding.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { useMay } from '../../data/may.ts';
import {
  audit,
  staffInvoices,
  staffOrganization,
  staffServices,
  taxStanding,
  ticketQueue,
  users,
} from '../../data/queries/staff/index.ts';
import { Blackholes } from '../../shield/staff/Blackholes.tsx';
import { useText } from '../../text/index.ts';
import {
  Act,
  Alert,
  Facts,
  Group,
  LinkTo,
  Named,
  NamedChoice,
  NamedLong,
  OwnCurrency,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Stack,
  StaffList,
  State,
  Text,
  Thing,
  Tick,
  Unfold,
  useAuditColumns,
  useColumns,
} from '../../ui/index.ts';

type Organization = Schema<'StaffOrganization'>;

/** A customer's whole life: who they are, what they have, owe, asked and did. */
export function Organization() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('staff.organization')} query={staffOrganization({ id: Number(id) })}>
      {({ organization }) => <Life of={organization} />}
    </Thing>
  );
}

function Life({ of: organization }: { of: Organization }) {
  const { t } = useText();
  const may = useMay();
  const within = { organization_id: organization.id };
  return (
    <Page title={organization.name} aside={<State of={organization.status} />}>
      {organization.status === 'blocked' && (
        <Alert color="red">
          {t('customers.blockedBecause', { reason: organization.status_reason ?? '–' })}
        </Alert>
      )}
      <Acts of={organization} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Section title={t('customers.who')}>
          <Facts
            of={organization}
            names={[
              'id',
              'country',
              'tax_id',
              'billing_address',
              'members_count',
              'require_2fa',
              'created_at',
            ]}
          />
        </Section>
        {may('getTaxStanding') && <Tax id={organization.id} />}
      </SimpleGrid>
      <Stack gap="sm">
        {may('listServicesAsStaff') && (
          <Unfold title={t('staff.services')} isOpen>
            <Services within={within} />
          </Unfold>
        )}
        {may('listInvoicesAsStaff') && (
          <Unfold title={t('staff.invoices')} isOpen>
            <Invoices within={within} />
          </Unfold>
        )}
        {may('listTicketQueue') && (
          <Unfold title={t('staff.tickets')}>
            <Tickets within={within} />
          </Unfold>
        )}
        {may('listUsers') && (
          <Unfold title={t('customers.members')}>
            <Members within={within} />
          </Unfold>
        )}
        {may('listAudit') && (
          <Unfold title={t('customers.activity')}>
            <Activity within={within} />
          </Unfold>
        )}
      </Stack>
    </Page>
  );
}

/** What staff corrects of an organization. */
const corrected = shown(['name', 'country', 'require_2fa']);

function Acts({ of: { id, status } }: { of: Organization }) {
  const { t } = useText();
  const path = { id };
  return (
    <Group gap="xs">
      <Blackholes organization={id} />
      <Act
        operation="correctOrganization"
        fields={correctOrganization}
        label={t('support.change')}
        of={partOf(drawnOf('/staff/organizations/{id}', { path }), ({ organization }) =>
          corrected(organization),
        )}
        onAct={({ name, country, require_2fa: frees }, _files, ifMatch) =>
          client.patch('/staff/organizations/{id}', {
            ifMatch,
            path,
            body: { name, country: country ?? null, ...(frees !== undefined && { require_2fa: false }) },
          })
        }
      >
        {({ name, country }) => (
          <>
            <Named name="name" value={name} />
            <Named name="country" value={country} isOptional />
            <Tick name="require_2fa" label={t('customers.freeFactor')} />
          </>
        )}
      </Act>
      <Act
        operation="grantAccountCredit"
        fields={grantAccountCredit}
        label={t('customers.credit')}
        text={t('customers.creditText')}
        onAct={({ amount = '', currency = '', description = '' }) =>
          client.post('/staff/organizations/{id}/credit', { path, body: { amount, currency, description } })
        }
      >
        <Named name="amount" />
        <OwnCurrency />
        <Named name="description" />
      </Act>
      <Act
        operation="returnCredit"
        fields={returnCredit}
        label={t('customers.returnCredit')}
        text={t('customers.returnCreditText')}
        isDangerous
        onAct={({ amount, currency = '', reason = '' }) =>
          client.post('/staff/organizations/{id}/credit-returns', {
            path,
            body: { amount, currency, reason },
          })
        }
      >
        <Named name="amount" isOptional help={t('customers.allCreditHelp')} />
        <OwnCurrency />
        <NamedLong name="reason" help={t('customers.toldHelp')} />
      </Act>
      <Act
        operation="promisePaymentOfOrganization"
        fields={promisePaymentOfOrganization}
        label={t('customers.promise')}
        text={t('customers.promiseText')}
        onAct={({ until, note }) =>
          client.post('/staff/organizations/{id}/promise', { path, body: { until: until ?? null, note } })
        }
      >
        <Named name="until" type="date" isOptional />
        <NamedLong name="note" isOptional />
      </Act>
      <Act
        operation="bookBankTransfer"
        fields={bookBankTransfer}
        label={t('customers.transfer')}
        text={t('customers.transferText')}
        onAct={({ amount = '', currency = '', reference = '', received_on: received, is_another: another }) =>
          client.post('/staff/organizations/{id}/transfers', {
            path,
            body: {
              amount,
              currency,
              reference,
              received_on: received,
              ...(another && { is_another: true }),
            },
          })
        }
      >
        <Named name="amount" />
        <OwnCurrency />
        <Named name="reference" />
        <Named name="received_on" type="date" isOptional />
        <Tick name="is_another" label={t('money.isAnother')} />
      </Act>
      {status === 'blocked' ? (
        <Act
          operation="unblockOrganization"
          label={t('customers.unblock')}
          text={t('customers.unblockText')}
          onAct={() => client.post('/staff/organizations/{id}/unblock', { path })}
        />
      ) : (
        <Act
          operation="blockOrganization"
          fields={blockOrganization}
          label={t('customers.block')}
          text={t('customers.blockText')}
          isDangerous
          onAct={({ reason = '' }) =>
            client.post('/staff/organizations/{id}/block', { path, body: { reason } })
          }
        >
          <NamedLong name="reason" />
        </Act>
      )}
    </Group>
  );
}

function Tax({ id }: { id: number }) {
  const { t } = useText();
  const read = useQuery(taxStanding({ id }));
  const tax = read.data?.tax;
  return (
    <Section
      title={t('customers.tax')}
      aside={
        <Act
          operation="updateTaxStanding"
          fields={updateTaxStanding}
          label={t('support.change')}
          of={drawnOf('/staff/organizations/{id}/tax', { path: { id } })}
          text={t('customers.taxText')}
          onAct={(
            { exempt_reason: exempt, tax_id_state: state, consultation_number: number },
            _files,
            ifMatch,
          ) =>
            client.patch('/staff/organizations/{id}/tax', {
              ifMatch,
              path: { id },
              body: {
                exempt_reason: exempt ?? null,
                ...(state !== undefined && { tax_id_state: state as Schema<'TaxIdState'> }),
                ...(number !== undefined && { consultation_number: number }),
              },
            })
          }
        >
          {({ tax: now }) => (
            <>
              <Named name="exempt_reason" value={now.exempt_reason} isOptional />
              <NamedChoice name="tax_id_state" isOptional />
              <Named name="consultation_number" isOptional />
            </>
          )}
        </Act>
      }
    >
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {tax === undefined && !read.error && <Skeleton height={60} />}
      {tax !== undefined && (
        <>
          <Facts of={tax} names={['treatment', 'country', 'rate', 'consumer', 'exempt_reason']} />
          {tax.tax_id !== null && (
            <Facts
              of={tax.tax_id}
              names={['tax_id', 'tax_id_state', 'checked_at', 'registered_name']}
              cells={{ tax_id_state: ({ state }) => <Text>{t(`word.${state}`)}</Text> }}
            />
          )}
        </>
      )}
    </Section>
  );
}

interface Within {
  within: { organization_id: number };
}

function Services({ within }: Within) {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffService'>>(['name', 'product', 'status', 'price', 'duedate'], {
    name: ({ id, domain }) => (
      <LinkTo to="/staff/services/$id" params={{ id: String(id) }}>
        {domain ?? t('services.untitled', { id })}
      </LinkTo>
    ),
  });
  return (
    <StaffList
      label={t('staff.services')}
      empty={t('empty.servicesOf')}
      query={staffServices({ ...within, limit: 10 })}
      columns={columns}
    />
  );
}

function Invoices({ within }: Within) {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffInvoice'>>(['number', 'kind', 'status', 'total', 'duedate'], {
    number: ({ id, number }) => (
      <LinkTo to="/staff/invoices/$id" params={{ id: String(id) }}>
        {number ?? t('billing.unnumbered', { id })}
      </LinkTo>
    ),
  });
  return (
    <StaffList
      label={t('staff.invoices')}
      empty={t('empty.invoicesOf')}
      query={staffInvoices({ ...within, limit: 10 })}
      columns={columns}
    />
  );
}

function Tickets({ within }: Within) {
  const { t } = useText();
  const columns = useColumns<Schema<'QueuedTicket'>>(['subject', 'status', 'priority', 'lastReply'], {
    subject: ({ tid, subject }) => (
      <LinkTo to="/staff/tickets/$tid" params={{ tid }}>
        {subject}
      </LinkTo>
    ),
  });
  const query = ticketQueue({ ...within, limit: 10, sort: '-lastReply' });
  return (
    <StaffList label={t('staff.tickets')} empty={t('empty.ticketsOf')} query={query} columns={columns} />
  );
}

function Members({ within }: Within) {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffUser'>>(
    ['email', 'first_name', 'last_name', 'status', 'last_activity_at'],
    {
      email: ({ id, email }) => (
        <LinkTo to="/staff/users/$id" params={{ id: String(id) }}>
          {email}
        </LinkTo>
      ),
    },
  );
  return (
    <StaffList
      label={t('customers.members')}
      empty={t('empty.members')}
      query={users(within)}
      columns={columns}
    />
  );
}

function Activity({ within }: Within) {
  const { t } = useText();
  const columns = useAuditColumns([]);
  return (
    <StaffList
      label={t('customers.activity')}
      empty={t('empty.activity')}
      query={audit({ ...within, limit: 20 })}
      columns={columns}
    />
  );
}
