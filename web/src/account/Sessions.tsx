import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../data/client.ts';
import { moreOf, queryClient, sessions, signIns } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Badge, Button, Confirm, List, Refusal, Section, Text } from '../ui/index.ts';

const readAnew = () => queryClient.invalidateQueries({ queryKey: ['sessions'] });

/** Where somebody is signed in, and who tried to. */
export function Sessions() {
  const { t, language } = useText();
  const open = useInfiniteQuery(sessions);
  const [isAsked, setAsked] = useState(false);
  const end = useMutation({
    mutationFn: (id: number) => client.delete('/dashboard/account/sessions/{id}', { path: { id } }),
    onSettled: readAnew,
  });
  const endOthers = useMutation({
    mutationFn: () => client.delete('/dashboard/account/sessions'),
    onSettled: readAnew,
  });
  return (
    <>
      <Section
        title={t('security.sessions')}
        aside={
          <Button variant="default" loading={endOthers.isPending} onClick={() => setAsked(true)}>
            {t('security.endOthers')}
          </Button>
        }
      >
        <Refusal error={end.error ?? endOthers.error} />
        <List
          label={t('security.sessions')}
          items={open.data?.pages.flatMap((page) => page.sessions)}
          keyOf={({ id }) => id}
          columns={[
            {
              name: t('security.device'),
              cell: ({ user_agent, current }) => (
                <span style={{ overflowWrap: 'anywhere' }}>
                  {deviceOf(user_agent) ?? t('security.unknownDevice')}{' '}
                  {current && (
                    <Badge variant="light" color="brand" tt="none" radius="sm">
                      {t('security.here')}
                    </Badge>
                  )}
                </span>
              ),
            },
            { name: t('activity.from'), cell: ({ ip }) => ip ?? t('app.nothing') },
            {
              name: t('security.lastUsed'),
              cell: ({ last_seen_at }) => moment(last_seen_at, language),
            },
            {
              name: t('app.actions'),
              isNumber: true,
              cell: ({ id, current }) =>
                !current && (
                  <Button
                    size="xs"
                    variant="default"
                    loading={end.isPending && end.variables === id}
                    onClick={() => end.mutate(id)}
                  >
                    {t('security.end')}
                  </Button>
                ),
            },
          ]}
          error={open.error}
          onRetry={() => void open.refetch()}
          empty={null}
          more={moreOf(open)}
        />
        <Confirm
          title={`${t('security.endOthers')}?`}
          text={t('security.endOthersLoses')}
          button={t('security.endOthers')}
          isOpen={isAsked}
          onClose={() => setAsked(false)}
          onConfirm={() => {
            setAsked(false);
            endOthers.mutate();
          }}
        />
      </Section>
      <SignIns />
    </>
  );
}

function SignIns() {
  const { t, language } = useText();
  const found = useInfiniteQuery(signIns);
  return (
    <Section title={t('security.signIns')}>
      <Text>{t('security.signInsText')}</Text>
      <List
        label={t('security.signIns')}
        items={found.data?.pages.flatMap((page) => page.sign_ins)}
        keyOf={({ created_at, outcome, ip }) => `${created_at} ${outcome} ${ip}`}
        columns={[
          {
            name: t('activity.what'),
            cell: ({ outcome, new_device }) => (
              <>
                {t(`outcome.${outcome}`)}{' '}
                {new_device && (
                  <Badge variant="light" color="orange" tt="none" radius="sm">
                    {t('security.newDevice')}
                  </Badge>
                )}
              </>
            ),
          },
          {
            name: t('security.device'),
            cell: ({ user_agent }) => deviceOf(user_agent) ?? t('security.unknownDevice'),
          },
          { name: t('activity.from'), cell: ({ ip }) => ip ?? t('app.nothing') },
          {
            name: t('activity.when'),
            isNumber: true,
            cell: ({ created_at }) => moment(created_at, language),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={<Text c="dimmed">{t('activity.none')}</Text>}
        more={moreOf(found)}
      />
    </Section>
  );
}

const browsers = [
  ['Edge', /\bEdg/],
  ['Opera', /\bOPR\//],
  ['Firefox', /\bFirefox\//],
  ['Chrome', /\b(?:Headless)?Chrome\//],
  ['Safari', /\bSafari\//],
] as const;
const systems = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** What a browser says of itself, in two words; programs are called what they call themselves. */
function deviceOf(agent: string | null): string | null {
  if (agent === null) return null;
  const known = [browsers, systems].flatMap((names) => names.find(([, sign]) => sign.test(agent))?.[0] ?? []);
  return known.length > 0 ? known.join(', ') : agent.slice(0, 60);
}
