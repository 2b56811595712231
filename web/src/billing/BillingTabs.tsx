import { useText } from '../text/index.ts';
import { PageTabs } from '../ui/index.ts';

export function BillingTabs() {
  const { t } = useText();
  return (
    <PageTabs
      label={t('billing.title')}
      tabs={[
        { to: '/billing', label: t('billing.invoices') },
        { to: '/billing/credit', label: t('billing.credit') },
        { to: '/billing/payment-methods', label: t('billing.methods') },
        { to: '/billing/profile', label: t('billing.profile') },
      ]}
    />
  );
}
