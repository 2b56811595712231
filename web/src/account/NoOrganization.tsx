import { client } from '../data/client.ts';
import { chooseOrganization } from '../data/organization.ts';
import { startOver } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Field, Form, Page, Text } from '../ui/index.ts';

/** Whoever is in no organization has nothing to look at: they found one, or are invited. */
export function NoOrganization() {
  const { t } = useText();
  return (
    <Page title={t('organization.none')}>
      <Text>{t('organization.noneText')}</Text>
      <Form
        submit={t('organization.found')}
        onSubmit={async ({ name = '' }) => {
          const { organization } = await client.post('/dashboard/organizations', { body: { name } });
          chooseOrganization(organization.id);
          await startOver();
        }}
      >
        <Field name="name" label={t('organization.name')} maxLength={100} autoComplete="organization" />
      </Form>
    </Page>
  );
}
