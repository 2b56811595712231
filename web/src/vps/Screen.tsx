import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError, type Schema } from '../../../client/index.ts';
import { acting } from '../data/impersonation.ts';
import { machineScreen, session } from '../data/queries/index.ts';
import { ago } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { LinkTo, Refusal, Section, Skeleton, Text } from '../ui/index.ts';
import { useAge } from './useAge.ts';

interface ScreenProps {
  id: number;
  state: Schema<'Machine'>['state'];
  /** Whether it would be told that the screen has changed. */
  isFollowed: boolean;
}

/** What is on a machine's screen: it tells a boot that hangs from a network that is dead. */
export function Screen({ id, state, isFollowed }: ScreenProps) {
  const { t, language } = useText();
  const { data: signedIn } = useQuery(session);
  // It is the customer's alone, as a console is.
  const isSeen = acting() === null && signedIn?.organization?.permissions.includes('vps.manage') === true;
  const isShown = state === 'running' || state === 'restarting';
  const screen = useQuery({ ...machineScreen(id), enabled: isSeen && isShown });
  const queries = useQueryClient();
  useEffect(() => {
    // What is on it when it runs again is something else.
    if (!isShown) queries.removeQueries({ queryKey: machineScreen(id).queryKey });
  }, [id, isShown, queries]);
  // It went off a moment ago, which is about to be heard of.
  const isOn = isShown && !(screen.error instanceof ApiError && screen.error.code === 'action_not_allowed');
  const isDrawn = isSeen && isOn && screen.error === null && screen.data !== undefined;
  const ageS = useAge(isDrawn ? screen.dataUpdatedAt : null);
  return (
    <Section
      title={ageS === null ? t('machine.screen') : t('machine.screenAgo', { time: ago(ageS, language) })}
    >
      {!isSeen && <Text c="dimmed">{t('machine.screenUnseen')}</Text>}
      {isSeen && !isOn && (
        <div className="screen">
          <p>{t(state === 'stopped' ? 'machine.screenOff' : 'machine.screenNone')}</p>
        </div>
      )}
      {isSeen && isOn && screen.error !== null && (
        <Refusal
          title={t('machine.screenBroken')}
          error={screen.error}
          onRetry={() => void screen.refetch()}
        />
      )}
      {isSeen && isOn && screen.isPending && <Skeleton className="screen" />}
      {isDrawn && (
        <LinkTo
          to="/services/$id/console"
          params={{ id: String(id) }}
          search={{ type: 'vnc' }}
          className="screen"
        >
          <img src={screen.data} alt={t('machine.screenAlt')} />
        </LinkTo>
      )}
      {isDrawn && isFollowed && (ageS ?? 0) >= quietS && (
        <Text size="sm" c="dimmed">
          {t('machine.screenSame')}
        </Text>
      )}
    </Section>
  );
}

/** The product looks every four seconds: what is older than two looks has not changed since. */
const quietS = 10;
