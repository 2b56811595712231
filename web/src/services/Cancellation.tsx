import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { cancellation } from '../data/queries/index.ts';
import { day, moment, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  ConfirmByName,
  Fact,
  Group,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Text,
} from '../ui/index.ts';

type Kind = Schema<'ServiceCancellation'>['type'];

/** The end of a service: what it would give back is there before anybody presses. */
export function Cancellation({ owned }: { owned: Schema<'Service'> }) {
  const { t, language } = useText();
  const queries = useQueryClient();
  const read = useQuery(cancellation(owned.id));
  const [asked, setAsked] = useState<Kind | null>(null);
  const follow = () => queries.invalidateQueries({ queryKey: ['services'] });
  const cancel = useMutation({
    mutationFn: (type: Kind) =>
      client.post('/dashboard/services/{id}/cancel', { path: { id: owned.id }, body: { type } }),
    onSettled: follow,
  });
  const revoke = useMutation({
    mutationFn: () => client.delete('/dashboard/services/{id}/cancel', { path: { id: owned.id } }),
    onSettled: follow,
  });
  const { data: terms } = read;
  if (terms === undefined)
    return (
      <Section title={t('cancel.title')}>
        {read.error ? (
          <Refusal error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={120} />
        )}
      </Section>
    );
  const name = owned.hostname ?? owned.domain ?? t('services.untitled', { id: owned.id });
  const refund = ({ total, currency, method }: Schema<'CancellationRefund'>) =>
    Number(total) === 0
      ? t('cancel.nothing')
      : t(`cancel.${method}`, { amount: money(total, currency, language) });
  if (terms.cancelled)
    return (
      <Section title={t('cancel.title')}>
        <Text>
          {terms.effective_at === null
            ? t('cancel.is')
            : t('cancel.isAt', { time: moment(terms.effective_at, language) })}
        </Text>
        <Refusal error={revoke.error} />
        <div>
          <ActionButton
            action={owned.actions.revoke_cancel}
            loading={revoke.isPending}
            onAct={() => revoke.mutate()}
          >
            {t('cancel.revoke')}
          </ActionButton>
        </div>
      </Section>
    );
  const { immediate, end_of_period: later } = terms;
  const action = terms.reason === null ? owned.actions.cancel : { allowed: false, reason: terms.reason };
  return (
    <Section title={t('cancel.title')}>
      {terms.withdrawal_until !== null && (
        <Text size="sm">{t('cancel.withdrawal', { day: day(terms.withdrawal_until, language) })}</Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {later !== null && (
          <Fact name={t('cancel.later')}>
            {t('cancel.laterText', { time: moment(later.effective_at, language) })}
          </Fact>
        )}
        {immediate !== null && <Fact name={t('cancel.now')}>{refund(immediate.refund)}</Fact>}
      </SimpleGrid>
      <Refusal error={cancel.error} />
      <Group>
        {later !== null && (
          <ActionButton
            variant="default"
            action={action}
            loading={cancel.isPending && cancel.variables === 'end_of_period'}
            onAct={() => setAsked('end_of_period')}
          >
            {t('cancel.laterButton')}
          </ActionButton>
        )}
        {immediate !== null && (
          <ActionButton
            variant="default"
            color="red"
            action={action}
            loading={cancel.isPending && cancel.variables === 'immediate'}
            onAct={() => setAsked('immediate')}
          >
            {t('cancel.nowButton')}
          </ActionButton>
        )}
      </Group>
      <ConfirmByName
        isOpen={asked !== null}
        title={t('cancel.ask', { name })}
        text={
          asked === 'immediate'
            ? t('cancel.nowWarning', { refund: immediate === null ? '' : refund(immediate.refund) })
            : t('cancel.laterWarning', {
                time: later === null ? '' : moment(later.effective_at, language),
              })
        }
        button={t(asked === 'immediate' ? 'cancel.nowButton' : 'cancel.laterButton')}
        name={name}
        onClose={() => setAsked(null)}
        onConfirm={() => {
          if (asked !== null) cancel.mutate(asked);
          setAsked(null);
        }}
      />
    </Section>
  );
}
