import { useQuery } from '@tanstack/react-query';
import { session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';

/** Whether whoever looks may change what Shield does, as buttons take it: one that is not allowed says why. */
export function useMayManage() {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  const allowed = signedIn?.organization?.permissions.includes('shield.manage') === true;
  return { allowed, reason: allowed ? null : t('refusal.permission_denied') };
}
