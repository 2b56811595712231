import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError, type Schema, UnreachableError } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { countdown } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { ActionButton, Alert, AsCode, Group, Progress, Refusal, Text } from '../ui/index.ts';
import { useLeft } from './useLeft.ts';
import { useMayManage } from './useMayManage.ts';

type Trial = Schema<'ShieldApply'>;

interface TrialBannerProps {
  trial: Trial;
  /** When its answer came, by this browser's clock. */
  readAt: number;
}

/** Rules that are tried out: for how long, and whether they stay. */
export function TrialBanner({ trial, readAt }: TrialBannerProps) {
  const { t } = useText();
  const queries = useQueryClient();
  const mayManage = useMayManage();
  const left = useLeft(trial.seconds_left ?? 0, readAt);
  const whole = (Date.parse(String(trial.confirm_until)) - Date.parse(String(trial.created_at))) / 1_000;
  const readAnew = () => queries.invalidateQueries({ queryKey: ['shield', 'now'] });
  const isOver = left === 0;
  // Nobody tells that its time is over: no edge does anything about it but by itself.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is
  useEffect(() => {
    if (isOver) void readAnew();
  }, [isOver]);
  const path = { id: trial.id };
  const keep = useMutation({ mutationFn: () => keepOverNew(trial.id), onSettled: readAnew });
  const takeBack = useMutation({
    mutationFn: () => client.post('/shield/v2/rules/apply/{id}/cancel', { path }),
    onSettled: readAnew,
  });
  const isInForce = trial.enforced?.active === true;
  const notYet = { allowed: false, reason: t('shield.notInForceYet') };
  const isCutOff = keep.error instanceof UnreachableError;
  return (
    <Alert color="orange" title={t('shield.trial')} role="status" className="trial-banner">
      <Text size="sm">
        {t(isInForce ? 'shield.trialText' : 'shield.trialBegins')}{' '}
        {/* The seconds change all the time: who listens hears what there is to know of them once. */}
        <b aria-hidden className="countdown">
          {countdown(left)}
        </b>
      </Text>
      <Progress
        value={whole > 0 ? (left / whole) * 100 : 0}
        aria-label={t('shield.timeLeft')}
        color="orange"
        my="xs"
      />
      {trial.enforced?.error != null && (
        <Text size="sm" lang="en">
          {trial.enforced.error}
        </Text>
      )}
      <Group gap="xs">
        <ActionButton
          action={mayManage.allowed && !isInForce ? notYet : mayManage}
          loading={keep.isPending}
          onAct={() => keep.mutate()}
        >
          {t('shield.keep')}
        </ActionButton>
        <ActionButton
          variant="default"
          action={mayManage}
          loading={takeBack.isPending}
          onAct={() => takeBack.mutate()}
        >
          {t('shield.takeBack')}
        </ActionButton>
        <AsCode
          act={() =>
            client.post('/shield/v2/rules/apply/{id}/confirm', { path, body: { new_connection: true } })
          }
        />
      </Group>
      {isCutOff ? (
        <Text size="sm" mt="xs" role="alert">
          {t('shield.cutOff')}
        </Text>
      ) : (
        <Refusal error={keep.error ?? takeBack.error} />
      )}
    </Alert>
  );
}

/** A browser keeps six connections, and whatever stands in between some more. */
const mostConnections = 20;

/**
 * Keeps rules that are tried out, over a connection that was opened since they are in force: whoever they shut out has none. A page cannot
 * choose, so the API refuses and ends those that are older, until one comes that is not.
 */
async function keepOverNew(id: number): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await client.post('/shield/v2/rules/apply/{id}/confirm', {
        path: { id },
        body: { new_connection: true },
      });
      return;
    } catch (error) {
      const isOld = error instanceof ApiError && error.code === 'connection_too_old';
      if (!isOld || tries >= mostConnections) throw error;
    }
  }
}
