import { useQuery } from '@tanstack/react-query';
import { paymentMethods } from '../data/queries/index.ts';
import { day } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Badge, List, Page, Text } from '../ui/index.ts';

export function PaymentMethods() {
  const { t, language } = useText();
  const read = useQuery(paymentMethods);
  return (
    <Page title={t('billing.methods')}>
      <List
        label={t('billing.methods')}
        items={read.data}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('billing.methods'),
            cell: ({ type, brand, last4, is_default }) => (
              <>
                {[brand ?? type, last4 && `•••• ${last4}`].filter(Boolean).join(' ')}{' '}
                {is_default && (
                  <Badge variant="light" color="brand" tt="none" radius="sm">
                    {t('billing.default')}
                  </Badge>
                )}
              </>
            ),
          },
          { name: t('billing.created'), isNumber: true, cell: (each) => day(each.created_at, language) },
        ]}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={<Text>{t('billing.noMethods')}</Text>}
      />
    </Page>
  );
}
