import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { DataOf, OperationAt, Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { paymentMethods, queryClient, session } from '../data/queries/index.ts';
import { money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Alert,
  Copy,
  Fact,
  Group,
  LinkTo,
  Refusal,
  Section,
  SimpleGrid,
  Stack,
  Text,
  Tick,
} from '../ui/index.ts';
import { methodName } from './methodName.ts';

type Shown = DataOf<OperationAt<'get', '/dashboard/invoices/{id}'>>;
type Way = Schema<'PaymentWay'>;

const isComing = ({ charge }: Schema<'Invoice'>) => charge?.state === 'open' || charge?.state === 'pending';

/** What became of the money that was asked for last: nobody is to pay twice, or to wait for what does not come. */
function LastCharge({ of }: { of: Schema<'Invoice'> }) {
  const { t, language } = useText();
  const { charge, currency } = of;
  if (charge !== null && isComing(of))
    return (
      <Text role="status">{t('billing.onItsWay', { amount: money(charge.amount, currency, language) })}</Text>
    );
  if (charge?.state === 'failed' && charge.decline !== null)
    return <Text role="status">{t('billing.wasDeclined', { why: charge.decline })}</Text>;
  return null;
}

/** Every way to pay an invoice, as the API says which are open. */
export function Pay({ shown: { invoice: found, payment_ways: ways } }: { shown: Shown }) {
  const { t, language } = useText();
  const { paid } = useSearch({ from: '/in/invoices/$id' });
  const { data: signedIn } = useQuery(session);
  const isOpen = found.status === 'unpaid';
  const { data: methods } = useQuery({ ...paymentMethods, enabled: isOpen });
  const [usesCredit, setUsesCredit] = useState(false);
  const pay = useMutation({
    mutationFn: async (body: Schema<'InvoicePayment'>) => {
      const { redirect_url } = await client.post('/dashboard/invoices/{id}/pay', {
        path: { id: found.id },
        body,
      });
      if (redirect_url !== null) window.location.assign(redirect_url);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['invoices'] }),
  });
  if (!isOpen)
    return pay.isSuccess || paid ? (
      <Text role="status" fw={600}>
        {t('billing.done')}
      </Text>
    ) : null;
  // Back from the provider: its word comes in a moment, and paying again would pay twice.
  if (paid) return <Text role="status">{t('billing.confirming')}</Text>;
  const mayPay = signedIn?.organization?.permissions.includes('billing.pay') === true;
  const wayBy = (method: Way['method']) => ways.find((way) => way.method === method);
  const actionOf = (way: Way) => (mayPay ? way : { allowed: false, reason: t('error.forbidden') });
  const [credit, card, transfer] = [wayBy('credit'), wayBy('card'), wayBy('bank_transfer')];
  const said = (minor: string) => money(minor, found.currency, language);
  // What credit does not cover may come from a card: both at once.
  const canSplit = credit?.code === 'insufficient_credit' && Number(credit.amount) > 0 && card?.allowed;
  const byCard = { method: 'card' as const, ...(canSplit && usesCredit && { use_credit: true }) };
  const isPending = (id?: number) =>
    pay.isPending && pay.variables.method === 'card' && pay.variables.payment_method_id === id;
  const isAsked = card !== undefined && found.charge?.needs_customer === true;
  // Where nothing can be paid online, no button promises it.
  const isOnline = card !== undefined && card.code !== 'payment_provider_missing';
  const isStuck = mayPay && ways.every(({ allowed }) => !allowed) && !isComing(found);
  const atPage = isOnline && (
    <ActionButton
      action={actionOf(card)}
      variant={isAsked || !methods?.length ? 'filled' : 'default'}
      loading={isPending()}
      onAct={() => pay.mutate(byCard)}
    >
      {t(isAsked ? 'billing.confirm' : methods?.length ? 'billing.payOther' : 'billing.payOnline')}
    </ActionButton>
  );
  return (
    <Section title={t('billing.payTitle', { amount: said(found.amount_due) })}>
      {isAsked ? (
        <Alert color="orange" title={t('billing.bankAsks')}>
          <Stack gap="sm" align="start">
            <Text size="sm">{t('billing.bankAsksText')}</Text>
            {atPage}
          </Stack>
        </Alert>
      ) : (
        <LastCharge of={found} />
      )}
      {canSplit && (
        <Tick
          name="use_credit"
          label={t('billing.useCredit', { amount: said(credit.amount) })}
          isOn={usesCredit}
          onChange={setUsesCredit}
        />
      )}
      <Group>
        {isOnline &&
          (methods ?? []).map((method) => (
            <ActionButton
              key={method.id}
              variant={isAsked ? 'default' : 'filled'}
              action={actionOf(card)}
              loading={isPending(method.id)}
              onAct={() => pay.mutate({ ...byCard, payment_method_id: method.id })}
            >
              {t('billing.payWith', { method: methodName(method) })}
            </ActionButton>
          ))}
        {!isAsked && atPage}
        {credit !== undefined && (
          <ActionButton
            variant="default"
            action={actionOf(credit)}
            loading={pay.isPending && pay.variables.method === 'credit'}
            onAct={() => pay.mutate({ method: 'credit' })}
          >
            {t('billing.payCredit', { amount: said(found.amount_due) })}
          </ActionButton>
        )}
      </Group>
      {isStuck && (
        <Group role="status">
          <Text>{t('billing.noWay')}</Text>
          <LinkTo to="/tickets/new">{t('billing.writeToUs')}</LinkTo>
        </Group>
      )}
      <Refusal error={pay.error} />
      {transfer?.account && (
        <Stack gap="xs">
          <Text fw={600}>{t('billing.transfer')}</Text>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
            <Fact name={t('billing.holder')}>{transfer.account.holder}</Fact>
            <Fact name="IBAN">
              <Copy text={transfer.account.iban} />
            </Fact>
            {transfer.account.bic !== null && <Fact name="BIC">{transfer.account.bic}</Fact>}
            <Fact name={t('billing.reference')}>
              <Copy text={found.payment_reference} />
            </Fact>
          </SimpleGrid>
          <Text size="sm" c="dimmed">
            {t('billing.transferText')}
          </Text>
        </Stack>
      )}
    </Section>
  );
}
