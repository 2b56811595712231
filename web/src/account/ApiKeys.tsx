import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { createApiKey } from '../../../client/generated/fields/createApiKey.ts';
import { rotateApiKey } from '../../../client/generated/fields/rotateApiKey.ts';
import { updateApiKey } from '../../../client/generated/fields/updateApiKey.ts';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { apiKeys, moreOf, queryClient } from '../data/queries/index.ts';
import { useRefused } from '../data/refused.ts';
import { day, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Badge,
  Button,
  Choice,
  Confirm,
  Copy,
  Dialog,
  Form,
  Group,
  List,
  Page,
  Paper,
  Refusals,
  Section,
  Stack,
  Text,
} from '../ui/index.ts';
import { ApiKeyFields, keyAreas, limitsOf } from './ApiKeyFields.tsx';
import { CommandLine } from './CommandLine.tsx';
import { DeveloperTabs } from './DeveloperTabs.tsx';

type ApiKey = Schema<'ApiKey'>;

const readAnew = () => queryClient.invalidateQueries({ queryKey: ['api-keys'] });

/** Keys by which programs act for somebody, each kept to as little as it needs. */
export function ApiKeys() {
  const { t, language } = useText();
  const found = useInfiniteQuery(apiKeys);
  const [shown, setShown] = useState<{ name: string; token: string } | null>(null);
  const [made, setMade] = useState(0);
  const [changed, setChanged] = useState<ApiKey | null>(null);
  const [rotated, setRotated] = useState<ApiKey | null>(null);
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  const { refused, begin } = useRefused();
  // A key that somebody else may hold is shown as revoked when it is, and not before.
  const revoke = useMutation({
    mutationFn: (id: number) => client.delete('/dashboard/account/api-keys/{id}', { path: { id } }),
    onMutate: begin,
    onError: (error, _id, say) => say?.(error),
    onSettled: readAnew,
  });
  return (
    <Page title={t('apiKeys.title')}>
      <DeveloperTabs />
      {shown !== null && (
        <Paper withBorder p="md" role="status">
          <Stack gap="sm">
            <Text fw={600}>{t('apiKeys.once', { name: shown.name })}</Text>
            <Copy text={shown.token} />
            <Button variant="default" onClick={() => setShown(null)} style={{ alignSelf: 'flex-start' }}>
              {t('apiKeys.kept')}
            </Button>
          </Stack>
        </Paper>
      )}
      <Refusals of={refused} />
      <List
        label={t('apiKeys.title')}
        items={found.data?.pages.flatMap((page) => page.api_keys)}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('organization.name'),
            cell: ({ name, key, test }) => (
              <div style={{ overflowWrap: 'anywhere' }}>
                <b>{name}</b>{' '}
                {test && (
                  <Badge variant="light" color="gray" tt="none" radius="sm">
                    {t('apiKeys.test')}
                  </Badge>
                )}
                <Text size="sm" c="dimmed" ff="monospace">
                  {key}
                </Text>
              </div>
            ),
          },
          { name: t('apiKeys.keptTo'), cell: (key) => <KeptTo apiKey={key} /> },
          {
            name: t('security.lastUsed'),
            cell: ({ lastUsed, last_used_ip }) =>
              lastUsed === null
                ? t('security.neverUsed')
                : [moment(lastUsed, language), last_used_ip].filter(Boolean).join(' · '),
          },
          {
            name: t('apiKeys.ends'),
            cell: ({ expires_at }) =>
              expires_at === null ? t('apiKeys.never') : moment(expires_at, language),
          },
          {
            name: t('app.actions'),
            isNumber: true,
            cell: (key) => (
              <Group gap="xs" justify="end">
                {(
                  [
                    ['change', setChanged],
                    ['rotate', setRotated],
                    ['revoke', setRevoked],
                  ] as const
                ).map(([what, choose]) => (
                  <Button
                    key={what}
                    size="xs"
                    variant="default"
                    aria-label={`${t(`apiKeys.${what}`)}: ${key.name}`}
                    onClick={() => choose(key)}
                  >
                    {t(`apiKeys.${what}`)}
                  </Button>
                ))}
              </Group>
            ),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={
          <>
            <Text fw={600}>{t('apiKeys.none')}</Text>
            <Text c="dimmed">{t('apiKeys.noneText')}</Text>
          </>
        }
        more={moreOf(found)}
      />
      <Section title={t('apiKeys.add')}>
        <Form
          fields={createApiKey}
          key={made}
          submit={t('apiKeys.add')}
          onSubmit={async (values) => {
            const { api_key, token } = await client.post('/dashboard/account/api-keys', {
              body: {
                ...limitsOf(values),
                name: values.name ?? '',
                test: values.test !== undefined,
              },
            });
            setShown({ name: api_key.name, token });
            setMade((before) => before + 1);
            await readAnew();
            window.scrollTo({ top: 0 });
          }}
        >
          <ApiKeyFields />
        </Form>
      </Section>
      <CommandLine />
      <Dialog title={t('apiKeys.change')} isOpen={changed !== null} onClose={() => setChanged(null)}>
        <Form
          fields={updateApiKey}
          submit={t('app.save')}
          onSubmit={async (values) => {
            const id = changed?.id ?? 0;
            await client.patch('/dashboard/account/api-keys/{id}', {
              path: { id },
              body: { ...limitsOf(values, changed), name: values.name ?? '' },
            });
            setChanged(null);
            await readAnew();
          }}
        >
          {changed && <ApiKeyFields apiKey={changed} />}
        </Form>
      </Dialog>
      <Dialog title={t('apiKeys.rotate')} isOpen={rotated !== null} onClose={() => setRotated(null)}>
        <Text>{t('apiKeys.rotateText')}</Text>
        <Form
          fields={rotateApiKey}
          submit={t('apiKeys.rotate')}
          onSubmit={async ({ overlap_hours }) => {
            const { api_key, token } = await client.post('/dashboard/account/api-keys/{id}/rotate', {
              path: { id: rotated?.id ?? 0 },
              body: { overlap_hours: Number(overlap_hours) },
            });
            setShown({ name: api_key.name, token });
            setRotated(null);
            await readAnew();
            window.scrollTo({ top: 0 });
          }}
        >
          <Choice
            name="overlap_hours"
            label={t('apiKeys.overlap')}
            defaultValue="24"
            choices={[0, 1, 24, 168, 720].map((hours) => ({
              value: String(hours),
              label: t('apiKeys.hours', { count: hours }),
            }))}
          />
        </Form>
      </Dialog>
      <Confirm
        title={`${t('apiKeys.revoke')}: ${revoked?.name ?? ''}`}
        text={t('apiKeys.revokeLoses')}
        button={t('apiKeys.revoke')}
        isOpen={revoked !== null}
        onClose={() => setRevoked(null)}
        onConfirm={() => {
          if (revoked !== null) revoke.mutate(revoked.id);
          setRevoked(null);
        }}
      />
    </Page>
  );
}

/** What a key is kept to, in words; each line is one of its bounds. */
function KeptTo({ apiKey }: { apiKey: ApiKey }) {
  const { t, language } = useText();
  const held = keyAreas.filter((area) => apiKey[area]);
  const lines = [
    ...(held.length < keyAreas.length
      ? [held.map((area) => t(`area.${area}`)).join(', ') || t('apiKeys.noArea')]
      : []),
    ...(apiKey.scopes === null ? [] : [t('apiKeys.scopeCount', { count: apiKey.scopes.length })]),
    ...(apiKey.organization_ids === null
      ? []
      : [t('apiKeys.organizationCount', { count: apiKey.organization_ids.length })]),
    ...(apiKey.ip_allowlist === null ? [] : [apiKey.ip_allowlist.join(', ')]),
  ];
  if (lines.length === 0) return <>{t('apiKeys.everything')}</>;
  return (
    <div>
      {lines.map((line) => (
        <div key={line} style={{ overflowWrap: 'anywhere' }}>
          {line}
        </div>
      ))}
      <Text size="sm" c="dimmed">
        {t('apiKeys.since', { day: day(apiKey.created_at, language) })}
      </Text>
    </div>
  );
}
