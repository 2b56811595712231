import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { updateOrganization } from '../../../client/generated/fields/updateOrganization.ts';
import { client } from '../data/client.ts';
import { drawnOf, partOf } from '../data/drawn.ts';
import { members, queryClient, session, startOver } from '../data/queries/index.ts';
import { day } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Button,
  Choice,
  Confirm,
  ConfirmByName,
  Fact,
  Field,
  Form,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Text,
} from '../ui/index.ts';
import { Found } from './Found.tsx';
import { OrganizationTabs } from './OrganizationTabs.tsx';
import { useOrganization } from './useOrganization.ts';

/** What an organization is, and what its owner decides for all of it. */
export function Organization() {
  const { t, language } = useText();
  const { organization, may } = useOrganization();
  const { name, role, members_count, created_at, billing_address, tax_id } = organization;
  return (
    <Page title={name}>
      <OrganizationTabs />
      <Section title={t('organization.about')}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          <Fact name={t('members.role')}>{t(`role.${role}`)}</Fact>
          <Fact name={t('members.title')}>{members_count}</Fact>
          <Fact name={t('organization.founded')}>{day(created_at, language)}</Fact>
          <Fact name={t('organization.taxId')}>{tax_id ?? t('app.nothing')}</Fact>
        </SimpleGrid>
        {billing_address !== null && (
          <Fact name={t('organization.billingAddress')}>
            <Text className="message">{billing_address}</Text>
          </Fact>
        )}
      </Section>
      {may('organization.manage') && <Name />}
      <SecondFactor />
      {role === 'owner' && <HandOver />}
      <Section title={t('organization.another')}>
        <Text>{t('organization.anotherText')}</Text>
        <Found />
      </Section>
      <Leave />
    </Page>
  );
}

const readAnew = () => queryClient.invalidateQueries({ queryKey: session.queryKey });

function Name() {
  const { t } = useText();
  const { organization } = useOrganization();
  const [isSaved, setSaved] = useState(false);
  return (
    <Section title={t('organization.name')}>
      <Form
        fields={updateOrganization}
        submit={t('app.save')}
        of={partOf(
          drawnOf('/dashboard/organizations/{id}', { path: { id: organization.id } }),
          ({ organization: { name } }) => name,
        )}
        onSubmit={async ({ name = '' }, _files, ifMatch) => {
          const made = await client.patch('/dashboard/organizations/{id}', {
            ifMatch,
            path: { id: organization.id },
            body: { name },
          });
          await readAnew();
          setSaved(true);
          return made.organization.name;
        }}
        beside={isSaved && <Text role="status">{t('app.saved')}</Text>}
      >
        {(now) => (
          <Field
            name="name"
            label={t('organization.name')}
            help={t('organization.nameHelp')}
            defaultValue={now}
            autoComplete="organization"
          />
        )}
      </Form>
    </Section>
  );
}

function SecondFactor() {
  const { t } = useText();
  const { organization, may } = useOrganization();
  const [isAsked, setAsked] = useState(false);
  const isWanted = organization.require_2fa;
  const change = useMutation({
    mutationFn: () =>
      client.patch('/dashboard/organizations/{id}', {
        path: { id: organization.id },
        body: { require_2fa: !isWanted },
      }),
    onSettled: readAnew,
  });
  const button = t(isWanted ? 'organization.wantNoFactor' : 'organization.wantFactor');
  const allowed = may('organization.manage');
  return (
    <Section title={t('organization.factor')}>
      <Text>{t(isWanted ? 'organization.factorOn' : 'organization.factorOff')}</Text>
      <Refusal error={change.error} />
      <ActionButton
        action={{ allowed, reason: t('error.forbidden') }}
        variant="default"
        loading={change.isPending}
        onAct={() => setAsked(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        {button}
      </ActionButton>
      <Confirm
        title={`${button}?`}
        text={t(isWanted ? 'organization.wantNoFactorText' : 'organization.wantFactorText')}
        button={button}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          change.mutate();
        }}
      />
    </Section>
  );
}

function HandOver() {
  const { t } = useText();
  const { organization, userId } = useOrganization();
  const [heir, setHeir] = useState<number | null>(null);
  const found = useInfiniteQuery(members(organization.id));
  const others = (found.data?.pages ?? [])
    .flatMap((page) => page.members)
    .filter(({ user }) => user.id !== userId);
  const give = useMutation({
    mutationFn: (user_id: number) =>
      client.post('/dashboard/organizations/{id}/hand-over', {
        path: { id: organization.id },
        body: { user_id },
      }),
    onSettled: () => queryClient.invalidateQueries(),
  });
  const nameOf = (id: number | null) => others.find(({ user }) => user.id === id)?.user.email ?? '';
  return (
    <Section title={t('organization.handOver')}>
      <Text>{t('organization.handOverText')}</Text>
      <Refusal error={found.error ?? give.error} />
      {others.length === 0 ? (
        found.data && <Text c="dimmed">{t('organization.noHeir')}</Text>
      ) : (
        <Form submit={t('organization.handOver')} onSubmit={async ({ user_id }) => setHeir(Number(user_id))}>
          <Choice
            name="user_id"
            label={t('organization.heir')}
            choices={others.map(({ user }) => ({
              value: String(user.id),
              label: `${user.first_name} ${user.last_name} (${user.email})`,
            }))}
          />
        </Form>
      )}
      <ConfirmByName
        title={t('organization.handOverAsk', { name: nameOf(heir) })}
        text={t('organization.handOverLoses')}
        button={t('organization.handOver')}
        name={organization.name}
        isOpen={heir !== null}
        onClose={() => setHeir(null)}
        onConfirm={() => {
          if (heir !== null) give.mutate(heir);
          setHeir(null);
        }}
      />
    </Section>
  );
}

function Leave() {
  const { t } = useText();
  const navigate = useNavigate();
  const { organization, userId } = useOrganization();
  const [isAsked, setAsked] = useState(false);
  const leave = useMutation({
    mutationFn: async () => {
      await client.delete('/dashboard/organizations/{id}/members/{user_id}', {
        path: { id: organization.id, user_id: userId },
      });
      await startOver();
      await navigate({ to: '/' });
    },
  });
  return (
    <Section title={t('organization.leave')}>
      <Text>{t('organization.leaveText')}</Text>
      <Refusal error={leave.error} />
      <Button
        color="red"
        variant="light"
        loading={leave.isPending}
        onClick={() => setAsked(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('organization.leave')}
      </Button>
      <Confirm
        title={t('organization.leaveAsk', { name: organization.name })}
        text={t('organization.leaveLoses')}
        button={t('organization.leave')}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          leave.mutate();
        }}
      />
    </Section>
  );
}
