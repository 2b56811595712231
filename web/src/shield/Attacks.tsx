import { useParams } from '@tanstack/react-router';
import { useText } from '../text/index.ts';
import { Page, Section } from '../ui/index.ts';
import { AttackList } from './AttackList.tsx';
import { ShieldTabs } from './ShieldTabs.tsx';

/** Attacks on all addresses of an organization. */
export function Attacks() {
  const { t } = useText();
  return (
    <Page title={t('shield.title')}>
      <ShieldTabs />
      <AttackList />
    </Page>
  );
}

/** Those on one of them. */
export function AttacksOnAddress() {
  const { t } = useText();
  const { ip } = useParams({ from: '/in/shield/addresses/$ip' });
  return (
    <Section title={t('shield.attacks')}>
      <AttackList ip={ip} />
    </Section>
  );
}
