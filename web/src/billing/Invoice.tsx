import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { invoice, session } from '../data/queries/index.ts';
import { saveFile } from '../data/saveFile.ts';
import { day, moment, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Button,
  Confirm,
  Fact,
  Group,
  LinkTo,
  List,
  Page,
  Paper,
  Refusal,
  SimpleGrid,
  Skeleton,
  Stack,
  State,
  Text,
  Title,
} from '../ui/index.ts';
import { Pay } from './Pay.tsx';
import { useInvoiceName } from './useInvoiceName.ts';

export function Invoice() {
  const { t, language } = useText();
  const { id } = useParams({ from: '/in/invoices/$id' });
  const { paid } = useSearch({ from: '/in/invoices/$id' });
  const read = useQuery({
    ...invoice(Number(id)),
    // The event that it is paid may have come before this page was there to hear it, and that it is not, none says.
    refetchInterval: ({ state }) => {
      const { status, charge } = state.data?.invoice ?? {};
      return status === 'unpaid' && (paid || charge?.state === 'open') ? 3_000 : false;
    },
  });
  const nameOf = useInvoiceName();
  const found = read.data?.invoice;
  if (read.data === undefined || found === undefined)
    return (
      <Page title={t('billing.unnumbered', { id })}>
        {read.error ? (
          <Refusal error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={320} />
        )}
      </Page>
    );
  const amount = (value: string) => money(value, found.currency, language);
  // Their prices are what the subtotal is made of.
  const lines = found.items.flatMap((item) => [
    item,
    ...(Number(item.setup_fee) === 0
      ? []
      : [{ description: t('order.setup'), price: item.setup_fee, service_id: null }]),
  ]);
  return (
    <Page title={nameOf(found)} aside={<State of={found.overdue ? 'overdue' : found.status} />}>
      <Pay shown={read.data} />
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Fact name={t('billing.created')}>{day(found.created_at, language)}</Fact>
        <Fact name={t('billing.due')}>{day(found.duedate, language)}</Fact>
        <Fact name={t('billing.reference')}>{found.payment_reference}</Fact>
        <Fact name={t('billing.open')}>{amount(found.amount_due)}</Fact>
      </SimpleGrid>
      <List
        label={t('billing.item')}
        items={lines}
        keyOf={(line) => lines.indexOf(line)}
        columns={[
          {
            name: t('billing.item'),
            // Whoever has paid looks for what they paid for.
            cell: ({ description, service_id: id }) =>
              id === null ? (
                description
              ) : (
                <LinkTo to="/services/$id" params={{ id: String(id) }}>
                  {description}
                </LinkTo>
              ),
          },
          { name: t('billing.price'), isNumber: true, cell: ({ price }) => amount(price) },
        ]}
        error={null}
        onRetry={() => undefined}
        empty={null}
      />
      <Paper withBorder p="md">
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          <Fact name={t('billing.subtotal')}>{amount(found.subtotal)}</Fact>
          {Number(found.discount) !== 0 && <Fact name={t('billing.discount')}>{amount(found.discount)}</Fact>}
          <Fact name={t('billing.tax', { rate: found.tax_rate })}>{amount(found.tax)}</Fact>
          <Fact name={t('billing.total')}>
            <Text fw={700} span>
              {amount(found.total)}
            </Text>
          </Fact>
        </SimpleGrid>
      </Paper>
      <Documents found={found} />
      {found.status === 'unpaid' && <Cancel found={found} name={nameOf(found)} />}
      {found.payments.length > 0 && (
        <Stack gap="sm">
          <Title order={2} size="h4">
            {t('billing.payments')}
          </Title>
          <List
            label={t('billing.payments')}
            items={found.payments}
            keyOf={(payment) => payment.id}
            columns={[
              { name: t('billing.payments'), cell: ({ method }) => t(`billing.${methodName(method)}`) },
              { name: t('billing.created'), cell: ({ created_at }) => moment(created_at, language) },
              { name: t('billing.total'), isNumber: true, cell: (payment) => amount(payment.amount) },
            ]}
            error={null}
            onRetry={() => undefined}
            empty={null}
          />
        </Stack>
      )}
    </Page>
  );
}

/** Whichever payment provider it was by: its name says nothing to who paid there. */
function methodName(method: Schema<'Payment'>['method']) {
  if (method === 'credit' || method === 'none') return `${method}_method` as const;
  return method === 'bank_transfer' ? method : 'online';
}

function Documents({ found: { id, number } }: { found: Schema<'Invoice'> }) {
  const { t } = useText();
  const fetchFile = useMutation({
    mutationFn: async (kind: 'pdf' | 'xml') =>
      saveFile(
        await client.file(`/dashboard/invoices/{id}/${kind}`, { path: { id } }),
        `${number ?? id}.${kind}`,
      ),
  });
  return (
    <div>
      <Group>
        {(['pdf', 'xml'] as const).map((kind) => (
          <Button
            key={kind}
            variant="default"
            loading={fetchFile.isPending && fetchFile.variables === kind}
            onClick={() => fetchFile.mutate(kind)}
          >
            {t(`billing.${kind}`)}
          </Button>
        ))}
      </Group>
      <Refusal error={fetchFile.error} />
    </div>
  );
}

/** Gives up what was ordered and not paid. */
function Cancel({ found: { id, actions }, name }: { found: Schema<'Invoice'>; name: string }) {
  const { t } = useText();
  const queries = useQueryClient();
  const { data: signedIn } = useQuery(session);
  const [isAsked, setAsked] = useState(false);
  const cancel = useMutation({
    mutationFn: () => client.post('/dashboard/invoices/{id}/cancel', { path: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['invoices'] }),
  });
  const mayPay = signedIn?.organization?.permissions.includes('billing.pay') === true;
  return (
    <div>
      <ActionButton
        variant="default"
        action={mayPay ? actions.cancel : { allowed: false, reason: t('error.forbidden') }}
        loading={cancel.isPending}
        onAct={() => setAsked(true)}
      >
        {t('billing.cancelInvoice')}
      </ActionButton>
      <Refusal error={cancel.error} />
      <Confirm
        title={t('billing.cancelAsk', { name })}
        text={t('billing.cancelLoses')}
        button={t('billing.cancelInvoice')}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          cancel.mutate();
        }}
      />
    </div>
  );
}
