import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Schema } from '../../../client/index.ts';
import { type ActivityFilter, activity, members, moreOf } from '../data/queries/index.ts';
import { Happened } from '../events/Happened.tsx';
import { day, moment } from '../text/formats.ts';
import { useValues } from '../text/happened.ts';
import { useText } from '../text/index.ts';
import { Anchor, Button, Group, List, NativeSelect, Page, Text, TextInput } from '../ui/index.ts';
import { OrganizationTabs } from './OrganizationTabs.tsx';
import { useOrganization } from './useOrganization.ts';

type Entry = Schema<'ActivityEntry'>;

/** What has happened in an organization: who did what, when, from where and with which key. */
export function Activity() {
  const { t, language } = useText();
  const { organization } = useOrganization();
  const filter = useSearch({ from: '/in/organization/activity' });
  const navigate = useNavigate({ from: '/organization/activity' });
  const found = useInfiniteQuery(activity(organization.id, filter));
  const people = useInfiniteQuery(members(organization.id));
  const narrow = (change: ActivityFilter) =>
    void navigate({ search: { ...filter, ...change }, replace: true });
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const keptSince = found.data?.pages[0]?.kept_since ?? null;
  const entries = found.data?.pages.flatMap((page) => page.activity);
  return (
    <Page title={t('activity.title')}>
      <OrganizationTabs />
      <Group align="end" gap="md">
        <NativeSelect
          label={t('activity.who')}
          value={filter.user_id ?? ''}
          onChange={({ currentTarget: { value } }) => narrow({ user_id: Number(value) || undefined })}
          data={[
            { value: '', label: t('app.all') },
            ...(people.data?.pages ?? [])
              .flatMap((page) => page.members)
              .map(({ user }) => ({
                value: String(user.id),
                label: [user.first_name, user.last_name].filter(Boolean).join(' ') || user.email,
              })),
          ]}
        />
        {(['since', 'until'] as const).map((edge) => (
          <TextInput
            key={edge}
            type="date"
            label={t(`activity.${edge}`)}
            value={filter[edge] ?? ''}
            onChange={({ currentTarget: { value } }) => narrow({ [edge]: value || undefined })}
          />
        ))}
        {isFiltered && (
          <Button variant="default" onClick={() => void navigate({ search: {}, replace: true })}>
            {t('activity.showAll')}
          </Button>
        )}
      </Group>
      {filter.action !== undefined && (
        <Text role="status">{t('activity.only', { action: filter.action })}</Text>
      )}
      <List
        label={t('activity.title')}
        items={entries}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('activity.what'),
            cell: (entry) => (
              <div>
                <Happened entry={entry} />
                <Values of={entry} />
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  display="block"
                  title={t('activity.onlyThese')}
                  style={{ overflowWrap: 'anywhere', textAlign: 'start', paddingBlock: '0.2rem' }}
                  onClick={() => narrow({ action: entry.action })}
                >
                  {entry.action}
                </Anchor>
              </div>
            ),
          },
          { name: t('activity.who'), cell: (entry) => <Who entry={entry} /> },
          {
            name: t('activity.from'),
            cell: ({ ip, api_key }) => (
              <div style={{ overflowWrap: 'anywhere' }}>
                {ip}
                {api_key !== null && (
                  <Text size="sm" c="dimmed">
                    {t('activity.key', { name: api_key.name })}
                  </Text>
                )}
              </div>
            ),
          },
          {
            name: t('activity.when'),
            isNumber: true,
            cell: ({ created_at }) => moment(created_at, language),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={<Text fw={600}>{t(isFiltered ? 'activity.noneFound' : 'activity.none')}</Text>}
        more={moreOf(found)}
      />
      {keptSince !== null && (
        <Text size="sm" c="dimmed">
          {t('activity.keptSince', { day: day(keptSince, language) })}
        </Text>
      )}
    </Page>
  );
}

/** Which thing, and how much, where the event tells it. */
function Values({ of: { values } }: { of: Entry }) {
  const said = useValues()(values);
  return (
    said !== '' && (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {said}
      </Text>
    )
  );
}

function Who({ entry: { user, admin } }: { entry: Entry }) {
  const { t } = useText();
  if (user !== null) return `${user.first_name} ${user.last_name}`;
  if (admin !== null) return t('activity.staff', { name: `${admin.first_name} ${admin.last_name}` });
  return t('activity.itself');
}
