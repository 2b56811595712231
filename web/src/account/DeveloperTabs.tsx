import { useQuery } from '@tanstack/react-query';
import { session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { PageTabs } from '../ui/index.ts';

/** What programs need that act for somebody: keys, and an address of theirs that is told of events. */
export function DeveloperTabs() {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  const mayHook = signedIn?.organization?.permissions.includes('webhook.manage') === true;
  return (
    <PageTabs
      label={t('nav.developers')}
      tabs={[
        { to: '/developers', label: t('apiKeys.title') },
        { to: '/developers/ssh-keys', label: t('sshKeys.title') },
        ...(mayHook ? [{ to: '/developers/webhooks', label: t('webhooks.title') }] : []),
      ]}
    />
  );
}
