import { useText } from '../text/index.ts';
import { PageTabs } from '../ui/index.ts';

export function AccountTabs() {
  const { t } = useText();
  return (
    <PageTabs
      label={t('account.title')}
      tabs={[
        { to: '/account', label: t('account.you') },
        { to: '/account/security', label: t('security.title') },
      ]}
    />
  );
}
