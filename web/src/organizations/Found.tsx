import { createOrganization } from '../../../client/generated/fields/createOrganization.ts';
import { client } from '../data/client.ts';
import { chooseOrganization } from '../data/organization.ts';
import { startOver } from '../data/queries/index.ts';
import { countries } from '../text/countries.ts';
import { useText } from '../text/index.ts';
import { Choice, Field, Form } from '../ui/index.ts';

/** Founds an organization, for which is acted from then on. */
export function Found() {
  const { t, language } = useText();
  return (
    <Form
      fields={createOrganization}
      submit={t('organization.found')}
      onSubmit={async ({ name = '', country }) => {
        const body = { name, ...(country && { country }) };
        const { organization } = await client.post('/dashboard/organizations', { body });
        chooseOrganization(organization.id);
        await startOver();
      }}
    >
      <Field name="name" label={t('organization.name')} autoComplete="organization" />
      <Choice
        name="country"
        label={t('register.country')}
        help={t('register.countryHelp')}
        // Who buys something has to say it; who says it here is asked for nothing later.
        required
        autoComplete="country"
        choices={[{ value: '', label: '' }, ...countries(language)]}
      />
    </Form>
  );
}
