import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { createInvitation } from '../../../client/generated/fields/createInvitation.ts';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { invitations, members, moreOf, queryClient } from '../data/queries/index.ts';
import { day, moment } from '../text/formats.ts';
import { permissionKey, useText } from '../text/index.ts';
import {
  Button,
  Choice,
  Confirm,
  Fact,
  Field,
  Form,
  Group,
  List,
  NativeSelect,
  Page,
  Refusal,
  Section,
  State,
  Text,
} from '../ui/index.ts';
import { OrganizationTabs } from './OrganizationTabs.tsx';
import { useOrganization } from './useOrganization.ts';

type Member = Schema<'Member'>;
type Role = Member['role'];

const readAnew = () =>
  Promise.all(
    ['members', 'invitations', 'session'].map((kind) => queryClient.invalidateQueries({ queryKey: [kind] })),
  );

/** Who acts for an organization, as what, and who was asked to. */
export function Members() {
  const { t, language } = useText();
  const { organization, may, userId } = useOrganization();
  const found = useInfiniteQuery(members(organization.id));
  const [wanted, setWanted] = useState<{ member: Member; role: Role } | null>(null);
  const [leaver, setLeaver] = useState<Member | null>(null);
  const mayManage = may('members.manage');
  const roles = found.data?.pages[0]?.roles ?? [];
  const pathOf = (member: Member) => ({ id: organization.id, user_id: member.user.id as number });
  const change = useMutation({
    mutationFn: ({ member, role }: { member: Member; role: Role }) =>
      client.patch('/dashboard/organizations/{id}/members/{user_id}', {
        path: pathOf(member),
        body: { role },
      }),
    onSettled: readAnew,
  });
  const remove = useMutation({
    mutationFn: (member: Member) =>
      client.delete('/dashboard/organizations/{id}/members/{user_id}', { path: pathOf(member) }),
    onSettled: readAnew,
  });
  const isMine = (member: Member) => member.user.id === userId;
  return (
    <Page title={t('members.title')}>
      <OrganizationTabs />
      <Refusal error={change.error ?? remove.error} />
      <List
        label={t('members.title')}
        items={found.data?.pages.flatMap((page) => page.members)}
        keyOf={({ user }) => user.email}
        columns={[
          {
            name: t('members.person'),
            cell: ({ user }) => (
              <div>
                <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                  {nameOf(user)}
                </Text>
                <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {user.email}
                </Text>
              </div>
            ),
          },
          {
            name: t('members.role'),
            cell: (member) =>
              mayManage && !isMine(member) ? (
                <NativeSelect
                  aria-label={t('members.roleOf', { name: nameOf(member.user) })}
                  value={member.role}
                  onChange={({ currentTarget: { value } }) => setWanted({ member, role: value as Role })}
                  data={roles.map(({ role }) => ({ value: role, label: t(`role.${role}`) }))}
                />
              ) : (
                t(`role.${member.role}`)
              ),
          },
          {
            name: t('members.factor'),
            cell: ({ two_factor }) => t(two_factor ? 'app.yes' : 'app.no'),
          },
          {
            name: t('members.lastActive'),
            cell: ({ last_active_at: last }) =>
              last === null ? t('members.neverActive') : moment(last, language),
          },
          ...(mayManage
            ? [
                {
                  name: t('app.actions'),
                  isNumber: true,
                  cell: (member: Member) =>
                    isMine(member) ? (
                      t('members.you')
                    ) : (
                      <Button
                        size="xs"
                        variant="default"
                        aria-label={t('members.removeAsk', { name: nameOf(member.user) })}
                        onClick={() => setLeaver(member)}
                      >
                        {t('app.remove')}
                      </Button>
                    ),
                },
              ]
            : []),
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={null}
        more={moreOf(found)}
      />
      {mayManage && roles.length > 0 && <Invitations roles={roles} />}
      <Section title={t('members.roles')}>
        <Text>{t('members.rolesText')}</Text>
        {roles.map(({ role, permissions }) => (
          <Fact key={role} name={t(`role.${role}`)}>
            {permissions
              .map((name) => t(`permission.${permissionKey(name as Schema<'Permission'>)}`))
              .join(' · ')}
          </Fact>
        ))}
      </Section>
      <Confirm
        title={t('members.changeAsk', {
          name: wanted ? nameOf(wanted.member.user) : '',
          role: wanted ? t(`role.${wanted.role}`) : '',
        })}
        text={t('members.changeText')}
        button={t('members.change')}
        isOpen={wanted !== null}
        onClose={() => setWanted(null)}
        onConfirm={() => {
          if (wanted !== null) change.mutate(wanted);
          setWanted(null);
        }}
      />
      <Confirm
        title={t('members.removeAsk', { name: leaver ? nameOf(leaver.user) : '' })}
        text={t('members.removeText')}
        button={t('app.remove')}
        isOpen={leaver !== null}
        onClose={() => setLeaver(null)}
        onConfirm={() => {
          if (leaver !== null) remove.mutate(leaver);
          setLeaver(null);
        }}
      />
    </Page>
  );
}

function nameOf({ first_name, last_name, email }: Member['user']): string {
  return [first_name, last_name].filter(Boolean).join(' ') || email;
}

function Invitations({ roles }: { roles: Schema<'MemberList'>['roles'] }) {
  const { t, language } = useText();
  const { organization } = useOrganization();
  const found = useInfiniteQuery(invitations(organization.id));
  const [sent, setSent] = useState<{ to: string; nth: number } | null>(null);
  const pathOf = (invitation_id: number) => ({ id: organization.id, invitation_id });
  const again = useMutation({
    mutationFn: (id: number) =>
      client.post('/dashboard/organizations/{id}/invitations/{invitation_id}/resend', { path: pathOf(id) }),
    onSettled: readAnew,
  });
  const withdraw = useMutation({
    mutationFn: (id: number) =>
      client.delete('/dashboard/organizations/{id}/invitations/{invitation_id}', { path: pathOf(id) }),
    onSettled: readAnew,
  });
  const offered = roles.map(({ role }) => role).filter((role) => role !== 'owner');
  const waiting = found.data?.pages.flatMap((page) => page.invitations);
  return (
    <Section title={t('members.invitations')}>
      <Text>{t('members.inviteText')}</Text>
      <Form
        fields={createInvitation}
        key={sent?.nth}
        submit={t('members.invite')}
        onSubmit={async ({ email = '', role }) => {
          const body = { email, role: role as (typeof offered)[number] };
          await client.post('/dashboard/organizations/{id}/invitations', {
            path: { id: organization.id },
            body,
          });
          await readAnew();
          setSent((before) => ({ to: email, nth: (before?.nth ?? 0) + 1 }));
        }}
        beside={sent && <Text role="status">{t('members.invited', { email: sent.to })}</Text>}
      >
        <Field name="email" type="email" label={t('signIn.email')} autoComplete="off" />
        <Choice
          name="role"
          label={t('members.role')}
          defaultValue="viewer"
          choices={offered.map((role) => ({ value: role, label: t(`role.${role}`) }))}
        />
      </Form>
      <Refusal error={again.error ?? withdraw.error} />
      <List
        label={t('members.invitations')}
        items={waiting}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('signIn.email'),
            cell: ({ email }) => <span style={{ overflowWrap: 'anywhere' }}>{email}</span>,
          },
          { name: t('members.role'), cell: ({ role }) => t(`role.${role}`) },
          {
            name: t('members.until'),
            cell: ({ expired, expires_at }) => (expired ? <State of="expired" /> : day(expires_at, language)),
          },
          {
            name: t('app.actions'),
            isNumber: true,
            cell: ({ id, email }) => (
              <Group gap="xs" justify="end">
                <Button
                  size="xs"
                  variant="default"
                  aria-label={t('members.againTo', { email })}
                  loading={again.isPending && again.variables === id}
                  onClick={() => again.mutate(id)}
                >
                  {t('members.again')}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  aria-label={t('members.withdrawFrom', { email })}
                  loading={withdraw.isPending && withdraw.variables === id}
                  onClick={() => withdraw.mutate(id)}
                >
                  {t('members.withdraw')}
                </Button>
              </Group>
            ),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={<Text c="dimmed">{t('members.noInvitations')}</Text>}
        more={moreOf(found)}
      />
    </Section>
  );
}
