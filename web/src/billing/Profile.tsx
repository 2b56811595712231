import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { updateBillingProfile } from '../../../client/generated/fields/updateBillingProfile.ts';
import { client } from '../data/client.ts';
import { drawnOf } from '../data/drawn.ts';
import { choicesOf } from '../data/fields.ts';
import { queryClient, session } from '../data/queries/index.ts';
import { countries } from '../text/countries.ts';
import { languages, useText } from '../text/index.ts';
import { Choice, Field, Form, Page, Section, SimpleGrid, Text, Tick } from '../ui/index.ts';
import { BillingTabs } from './BillingTabs.tsx';

/** Who invoices are made out to. */
export function Profile() {
  const { t } = useText();
  return (
    <Page title={t('billing.profile')}>
      <BillingTabs />
      <Buyer />
    </Page>
  );
}

const texts = [
  ['name', 'billing.buyer', 'organization'],
  ['address_line1', 'billing.street', 'address-line1'],
  ['address_line2', 'billing.street2', 'address-line2'],
  ['postal_code', 'billing.postalCode', 'postal-code'],
  ['city', 'billing.city', 'address-level2'],
  ['region', 'billing.region', 'address-level1'],
  ['tax_id', 'billing.vatId', 'off'],
  ['order_number', 'billing.orderNumber', 'off'],
  ['routing_id', 'billing.routingId', 'off'],
] as const;

function Buyer() {
  const { t, language } = useText();
  const { data: signedIn } = useQuery(session);
  const [isSaved, setSaved] = useState(false);
  const mayManage = signedIn?.organization?.permissions.includes('billing.manage') === true;
  return (
    <Section title={t('billing.buyerTitle')}>
      <Text>{t('billing.profileText')}</Text>
      {!mayManage && <Text c="dimmed">{t('error.forbidden')}</Text>}
      <Form
        fields={updateBillingProfile}
        submit={t('app.save')}
        of={drawnOf('/dashboard/billing/profile')}
        onSubmit={async (values, _files, ifMatch) => {
          setSaved(false);
          const made = await client.patch('/dashboard/billing/profile', {
            ifMatch,
            body: {
              ...Object.fromEntries(texts.map(([name]) => [name, values[name] ?? null])),
              kind: values.kind === 'person' ? 'person' : 'company',
              consumer: values.consumer !== undefined,
              email: values.email ?? null,
              language: values.language ?? null,
              ...(values.country && { country: values.country }),
            },
          });
          await queryClient.invalidateQueries({ queryKey: session.queryKey });
          setSaved(true);
          return made;
        }}
        beside={isSaved && <Text role="status">{t('app.saved')}</Text>}
      >
        {({ profile }) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <Choice
                name="kind"
                label={t('billing.kind')}
                defaultValue={profile.kind}
                choices={choicesOf(updateBillingProfile.kind, (value) =>
                  t(value === 'company' ? 'billing.company' : 'billing.privatePerson'),
                )}
              />
              <Choice
                name="country"
                label={t('register.country')}
                help={t('register.countryHelp')}
                defaultValue={profile.country ?? ''}
                required={false}
                choices={[{ value: '', label: '' }, ...countries(language)]}
              />
              {texts.map(([name, label, autoComplete]) => (
                <Field
                  key={name}
                  name={name}
                  label={t(label)}
                  required={false}
                  autoComplete={autoComplete}
                  defaultValue={profile[name] ?? ''}
                />
              ))}
              <Field
                name="email"
                type="email"
                label={t('billing.email')}
                required={false}
                defaultValue={profile.email ?? ''}
              />
              <Choice
                name="language"
                label={t('billing.language')}
                required={false}
                defaultValue={profile.language ?? ''}
                choices={[
                  { value: '', label: t('billing.ownLanguage') },
                  ...Object.entries(languages).map(([value, label]) => ({ value, label })),
                ]}
              />
            </SimpleGrid>
            <Tick name="consumer" label={t('billing.consumer')} defaultChecked={profile.consumer} />
          </>
        )}
      </Form>
    </Section>
  );
}
