import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { useAhead } from '../data/ahead.ts';
import { client } from '../data/client.ts';
import { paymentMethods, queryClient, session } from '../data/queries/index.ts';
import { day } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { ActionButton, Badge, Confirm, Group, List, Page, Refusal, Refusals, Text } from '../ui/index.ts';
import { BillingTabs } from './BillingTabs.tsx';
import { methodName } from './methodName.ts';

type Method = Schema<'PaymentMethod'>;

const readAnew = () => queryClient.invalidateQueries({ queryKey: paymentMethods.queryKey });

export function PaymentMethods() {
  const { t, language } = useText();
  const read = useQuery(paymentMethods);
  const { data: signedIn } = useQuery(session);
  const [removed, setRemoved] = useState<Method | null>(null);
  const allowed = signedIn?.organization?.permissions.includes('billing.manage') === true;
  const may = { allowed, reason: t('error.forbidden') };
  const add = useMutation({
    mutationFn: async () => {
      const { redirect_url } = await client.post('/dashboard/payment-methods');
      window.location.assign(redirect_url);
    },
  });
  const choose = useAhead<readonly Method[], Method>({
    of: paymentMethods.queryKey,
    isAllowed: () => allowed,
    // One of them at most is meant without a word.
    becomes: (now, { id, is_default: was }) =>
      now.map((each) => ({ ...each, is_default: each.id === id && !was })),
    send: ({ id, is_default }) =>
      client.patch('/dashboard/payment-methods/{id}', { path: { id }, body: { is_default: !is_default } }),
    anew: [paymentMethods.queryKey],
  });
  const remove = useMutation({
    mutationFn: (id: number) => client.delete('/dashboard/payment-methods/{id}', { path: { id } }),
    onSettled: readAnew,
  });
  return (
    <Page
      title={t('billing.methods')}
      aside={
        <ActionButton action={may} loading={add.isPending} onAct={() => add.mutate()}>
          {t('billing.addMethod')}
        </ActionButton>
      }
    >
      <BillingTabs />
      <Refusal error={add.error ?? remove.error} />
      <Refusals of={choose.refused} />
      <List
        label={t('billing.methods')}
        items={read.data}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('billing.methods'),
            cell: (method) => (
              <>
                <b>{methodName(method)}</b>{' '}
                {method.is_default && (
                  <Badge variant="light" color="brand" tt="none" radius="sm">
                    {t('billing.default')}
                  </Badge>
                )}
              </>
            ),
          },
          {
            name: t('billing.expires'),
            cell: ({ expires_month: month, expires_year: year }) =>
              month === null || year === null ? t('apiKeys.never') : `${month}/${year}`,
          },
          { name: t('billing.created'), cell: (each) => day(each.created_at, language) },
          {
            name: t('app.actions'),
            isNumber: true,
            cell: (method) => (
              <Group gap="xs" justify="end">
                <ActionButton
                  size="xs"
                  variant="default"
                  action={may}
                  loading={choose.isPending && choose.variables?.id === method.id}
                  onAct={() => choose.mutate(method)}
                >
                  {t(method.is_default ? 'billing.useNot' : 'billing.useFirst')}
                </ActionButton>
                <ActionButton size="xs" variant="default" action={may} onAct={() => setRemoved(method)}>
                  {t('app.remove')}
                </ActionButton>
              </Group>
            ),
          },
        ]}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={
          <>
            <Text fw={600}>{t('billing.noMethods')}</Text>
            <Text c="dimmed">{t('billing.noMethodsText')}</Text>
          </>
        }
      />
      <Confirm
        title={t('security.removeOf', { name: removed ? methodName(removed) : '' })}
        text={t('billing.methodLoses')}
        button={t('app.remove')}
        isOpen={removed !== null}
        onClose={() => setRemoved(null)}
        onConfirm={() => {
          if (removed !== null) remove.mutate(removed.id);
          setRemoved(null);
        }}
      />
    </Page>
  );
}
