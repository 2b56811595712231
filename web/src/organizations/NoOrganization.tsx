import { useText } from '../text/index.ts';
import { Page, Text } from '../ui/index.ts';
import { Found } from './Found.tsx';

/** Whoever is in no organization has nothing to look at: they found one, or are invited. */
export function NoOrganization() {
  const { t } = useText();
  return (
    <Page title={t('organization.none')}>
      <Text>{t('organization.noneText')}</Text>
      <Found />
    </Page>
  );
}
