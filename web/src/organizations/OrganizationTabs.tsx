import { useText } from '../text/index.ts';
import { PageTabs } from '../ui/index.ts';
import { useOrganization } from './useOrganization.ts';

export function OrganizationTabs() {
  const { t } = useText();
  const { may } = useOrganization();
  return (
    <PageTabs
      label={t('organization.title')}
      tabs={[
        { to: '/organization', label: t('organization.title') },
        ...(may('members.read') ? [{ to: '/organization/members', label: t('members.title') }] : []),
        ...(may('activity.read') ? [{ to: '/organization/activity', label: t('activity.title') }] : []),
      ]}
    />
  );
}
