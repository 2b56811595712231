import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { askForFactorReset } from '../../../../client/generated/fields/askForFactorReset.ts';
import { blockUser } from '../../../../client/generated/fields/blockUser.ts';
import { correctUser } from '../../../../client/generated/fields/correctUser.ts';
import { impersonateUser } from '../../../../client/generated/fields/impersonateUser.ts';
import { ApiError, type Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { actAs } from '../../data/impersonation.ts';
import { useMay } from '../../data/may.ts';
import { startOver } from '../../data/queries/index.ts';
import {
  factorReset,
  impersonations,
  staffOrganizations,
  user as userQuery,
} from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  LinkTo,
  Named,
  NamedLong,
  Page,
  Refusal,
  Section,
  Stack,
  StaffList,
  State,
  Text,
  Thing,
  Tick,
  Unfold,
  useColumns,
} from '../../ui/index.ts';

type Person = Schema<'StaffUser'>;

export function User() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('staff.users')} query={userQuery({ id: Number(id) })}>
      {({ user }) => <Shown of={user} />}
    </Thing>
  );
}

function Shown({ of: person }: { of: Person }) {
  const { t } = useText();
  const may = useMay();
  const columns = useColumns<Schema<'StaffOrganization'>>(['name', 'status', 'country'], {
    name: ({ id, name }) => (
      <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
        {name}
      </LinkTo>
    ),
  });
  return (
    <Page title={`${person.first_name} ${person.last_name}`} aside={<State of={person.status} />}>
      <Acts of={person} />
      <Section title={t('customers.who')}>
        <Facts
          of={person}
          names={[
            'email',
            'email_verified',
            'phone',
            'billing_email',
            'abuse_email',
            'staff_role',
            'last_activity_at',
            'created_at',
          ]}
        />
      </Section>
      {may('getFactorReset') && (
        <Unfold title={t('customers.factors')}>
          <Factors id={person.id} />
        </Unfold>
      )}
      <Unfold title={t('staff.organizations')} isOpen>
        <StaffList
          label={t('staff.organizations')}
          empty={t('empty.ofPerson')}
          query={staffOrganizations({ user_id: person.id })}
          columns={columns}
        />
      </Unfold>
      {may('listImpersonations') && (
        <Unfold title={t('customers.impersonations')}>
          <Impersonations userId={person.id} />
        </Unfold>
      )}
    </Page>
  );
}

/** What staff corrects of a person, and not when they were last here. */
const corrected = shown(['first_name', 'last_name', 'phone', 'billing_email', 'abuse_email']);

function Acts({ of: person }: { of: Person }) {
  const { t } = useText();
  const navigate = useNavigate();
  const path = { id: person.id };
  return (
    <Group gap="xs">
      <Act
        operation="impersonateUser"
        fields={impersonateUser}
        label={t('customers.actAs')}
        text={t('customers.actAsText')}
        isFirst
        onAct={async ({ reason = '', organization_id: organization, may_change: change }) => {
          const { impersonation, token } = await client.post('/staff/users/{id}/impersonate', {
            path,
            body: {
              ...{ reason, read_only: change === undefined },
              ...(organization !== undefined && { organization_id: Number(organization) }),
            },
          });
          actAs({ token, impersonation });
          await startOver();
          await navigate({ to: '/' });
        }}
      >
        <NamedLong name="reason" help={t('customers.reasonHelp')} />
        <Named name="organization_id" isOptional />
        <Tick name="may_change" label={t('customers.mayChange')} />
      </Act>
      <Act
        operation="correctUser"
        fields={correctUser}
        label={t('support.change')}
        of={partOf(drawnOf('/staff/users/{id}', { path }), ({ user }) => corrected(user))}
        onAct={({ first_name, last_name, phone, billing_email, abuse_email }, _files, ifMatch) =>
          client.patch('/staff/users/{id}', {
            ifMatch,
            path,
            body: {
              ...{ first_name, last_name, phone: phone ?? null },
              ...{ billing_email: billing_email ?? null, abuse_email: abuse_email ?? null },
            },
          })
        }
      >
        {(now) => (
          <>
            <Named name="first_name" value={now.first_name} />
            <Named name="last_name" value={now.last_name} />
            <Named name="phone" value={now.phone} isOptional />
            <Named name="billing_email" value={now.billing_email} isOptional />
            <Named name="abuse_email" value={now.abuse_email} isOptional />
          </>
        )}
      </Act>
      {person.status === 'blocked' ? (
        <Act
          operation="unblockUser"
          label={t('customers.unblock')}
          text={t('customers.unblockUserText')}
          onAct={() => client.post('/staff/users/{id}/unblock', { path })}
        />
      ) : (
        <Act
          operation="blockUser"
          fields={blockUser}
          label={t('customers.block')}
          text={t('customers.blockUserText')}
          isDangerous
          onAct={({ reason = '' }) => client.post('/staff/users/{id}/block', { path, body: { reason } })}
        >
          <NamedLong name="reason" />
        </Act>
      )}
    </Group>
  );
}

/** Somebody who lost all their factors: what waits, or the way to ask for it. */
function Factors({ id }: { id: number }) {
  const { t } = useText();
  const path = { id };
  const read = useQuery(factorReset({ id }));
  const isNone = read.error instanceof ApiError && read.error.code === 'not_found';
  return (
    <Stack gap="sm" align="start">
      {isNone && <Text c="dimmed">{t('customers.noReset')}</Text>}
      {!isNone && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.data !== undefined && !isNone && (
        <Facts of={read.data.factor_reset} names={['asked_by', 'reason', 'due_at', 'created_at']} />
      )}
      {isNone && (
        <Act
          operation="askForFactorReset"
          fields={askForFactorReset}
          label={t('customers.resetFactors')}
          text={t('customers.resetFactorsText')}
          isDangerous
          onAct={({ reason = '' }) =>
            client.post('/staff/users/{id}/factor-reset', { path, body: { reason } })
          }
        >
          <NamedLong name="reason" />
        </Act>
      )}
      {read.data !== undefined && !isNone && (
        <Act
          operation="revokeFactorReset"
          label={t('customers.keepFactors')}
          text={t('customers.keepFactorsText')}
          onAct={() => client.delete('/staff/users/{id}/factor-reset', { path })}
        />
      )}
    </Stack>
  );
}

function Impersonations({ userId }: { userId: number }) {
  const { t } = useText();
  const columns = useColumns<Schema<'Impersonation'>>(
    ['staff', 'reason', 'read_only', 'created_at', 'expires_at', 'actions'],
    {
      actions: ({ id, ended_at: ended }) =>
        ended === null && (
          <Act
            operation="endImpersonation"
            label={t('acting.end')}
            onAct={() => client.post('/staff/impersonations/{id}/end', { path: { id } })}
          />
        ),
    },
  );
  return (
    <StaffList
      label={t('customers.impersonations')}
      empty={t('empty.impersonations')}
      query={impersonations({ user_id: userId })}
      columns={columns}
    />
  );
}
