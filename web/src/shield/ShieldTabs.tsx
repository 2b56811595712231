import { useText } from '../text/index.ts';
import { PageTabs } from '../ui/index.ts';

export function ShieldTabs() {
  const { t } = useText();
  return (
    <PageTabs
      label={t('shield.title')}
      tabs={[
        { to: '/shield', label: t('shield.addresses') },
        { to: '/shield/attacks', label: t('shield.attacks') },
        { to: '/shield/rate-limiters', label: t('shield.limiters') },
      ]}
    />
  );
}
