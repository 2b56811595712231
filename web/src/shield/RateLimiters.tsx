import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createRateLimiter } from '../../../client/generated/fields/createRateLimiter.ts';
import { updateRateLimiter } from '../../../client/generated/fields/updateRateLimiter.ts';
import type { BodyOf, OperationAt, Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { drawnOf, partOf } from '../data/drawn.ts';
import { rateLimiters } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Confirm,
  Dialog,
  Field,
  Form,
  Group,
  List,
  Page,
  Refusal,
  Text,
  type Values,
} from '../ui/index.ts';
import { RateFields } from './RateFields.tsx';
import { rateOf } from './ruleForm.ts';
import { ShieldTabs } from './ShieldTabs.tsx';
import { useMayManage } from './useMayManage.ts';
import { useSayRate } from './useRates.ts';

type Limiter = Schema<'ShieldRateLimiter'>;
type NewLimiter = BodyOf<OperationAt<'post', '/shield/v2/rate-limiters'>>;

/** Rates that rules hold packets to. */
export function RateLimiters() {
  const { t, language } = useText();
  const queries = useQueryClient();
  const mayManage = useMayManage();
  const sayRate = useSayRate();
  const read = useQuery(rateLimiters);
  const [open, setOpen] = useState<'new' | Limiter | null>(null);
  const [leaving, setLeaving] = useState<Limiter | null>(null);
  const readAnew = () => queries.invalidateQueries({ queryKey: ['shield'] });
  const remove = useMutation({
    mutationFn: (id: number) => client.delete('/shield/v2/rate-limiters/{id}', { path: { id } }),
    onSettled: readAnew,
  });
  const done = async () => {
    setOpen(null);
    await readAnew();
  };
  return (
    <Page
      title={t('shield.title')}
      aside={
        <ActionButton action={mayManage} onAct={() => setOpen('new')}>
          {t('shield.addLimiter')}
        </ActionButton>
      }
    >
      <ShieldTabs />
      <Text c="dimmed">{t('shield.limitersText')}</Text>
      <Refusal error={remove.error} />
      <List
        label={t('shield.limiters')}
        items={read.data}
        keyOf={({ id }) => id}
        columns={[
          { name: t('services.name'), cell: ({ name }) => <Text fw={600}>{name}</Text> },
          { name: t('shield.rate'), cell: sayRate },
          { name: t('shield.per'), cell: ({ per }) => t(`shield.per_${per}`) },
          { name: t('shield.burst'), isNumber: true, cell: ({ burst }) => burst.toLocaleString(language) },
          {
            name: t('app.actions'),
            isNumber: true,
            cell: (limiter) => (
              <Group gap="xs" justify="end">
                <ActionButton size="xs" variant="default" action={mayManage} onAct={() => setOpen(limiter)}>
                  {t('app.change')}
                </ActionButton>
                <ActionButton
                  size="xs"
                  variant="default"
                  action={mayManage}
                  onAct={() => setLeaving(limiter)}
                >
                  {t('app.remove')}
                </ActionButton>
              </Group>
            ),
          },
        ]}
        error={read.error}
        failed={t('shield.limitersFailed')}
        onRetry={() => void read.refetch()}
        empty={
          <>
            <Text fw={600}>{t('shield.noLimiters')}</Text>
            <Text c="dimmed" ta="center">
              {t('shield.noLimitersText')}
            </Text>
          </>
        }
      />
      <Dialog
        title={open === 'new' ? t('shield.addLimiter') : t('shield.changeLimiter')}
        isOpen={open !== null}
        onClose={() => setOpen(null)}
      >
        {open === 'new' && (
          <Form
            fields={createRateLimiter}
            submit={t('shield.addLimiter')}
            onSubmit={async (values) => {
              await client.post('/shield/v2/rate-limiters', { body: limiterIn(values) });
              await done();
            }}
          >
            <LimiterFields limiter={null} />
          </Form>
        )}
        {open !== null && open !== 'new' && (
          <Form
            fields={updateRateLimiter}
            submit={t('app.save')}
            of={partOf(
              drawnOf('/shield/v2/rate-limiters/{id}', { path: { id: open.id } }),
              ({ rate_limiter }) => rate_limiter,
            )}
            onSubmit={async (values, _files, ifMatch) => {
              const path = { id: open.id };
              await client.patch('/shield/v2/rate-limiters/{id}', { path, body: limiterIn(values), ifMatch });
              await done();
            }}
          >
            {(now) => <LimiterFields limiter={now} />}
          </Form>
        )}
      </Dialog>
      <Confirm
        isOpen={leaving !== null}
        title={t('shield.removeLimiter', { name: leaving?.name ?? '' })}
        text={t('shield.removeLimiterText')}
        button={t('app.remove')}
        onClose={() => setLeaving(null)}
        onConfirm={() => {
          if (leaving !== null) remove.mutate(leaving.id);
          setLeaving(null);
        }}
      />
    </Page>
  );
}

const limiterIn = ({ name = '', ...rate }: Values): NewLimiter => ({ name, ...rateOf(rate) });

function LimiterFields({ limiter }: { limiter: Limiter | null }) {
  const { t } = useText();
  return (
    <>
      <Field name="name" label={t('services.name')} defaultValue={limiter?.name ?? ''} />
      <RateFields rate={limiter} />
    </>
  );
}
