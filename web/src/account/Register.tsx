import { useState } from 'react';
import type { BodyOf, OperationAt } from '../../../client/index.ts';
import { useBrand } from '../data/brand.ts';
import { client } from '../data/client.ts';
import { countries } from '../text/countries.ts';
import { useText } from '../text/index.ts';
import { Card, Choice, Field, Form, Group, LinkTo, Text, type Values } from '../ui/index.ts';

type Registration = BodyOf<OperationAt<'post', '/auth/register'>>;

export function Register() {
  const { t, language } = useText();
  const isInvitedOnly = useBrand().registration === 'invited';
  const [sentTo, setSentTo] = useState<string | null>(null);
  const register = async (values: Values) => {
    await client.post('/auth/register', { body: values as unknown as Registration });
    setSentTo(values.email ?? '');
  };
  if (sentTo !== null) {
    // Nobody learns here who was invited: the answer is the same for every address.
    const sent = { email: sentTo };
    const text = isInvitedOnly ? t('register.sentTextInvited', sent) : t('register.sentText', sent);
    return <Card title={t('register.sent')} text={text} />;
  }
  return (
    <Card title={t('register.title')} {...(isInvitedOnly ? { text: t('register.invitedText') } : {})}>
      <Form submit={t('register.submit')} onSubmit={register}>
        <Field name="first_name" label={t('register.firstName')} autoComplete="given-name" maxLength={100} />
        <Field name="last_name" label={t('register.lastName')} autoComplete="family-name" maxLength={100} />
        <Field name="email" type="email" label={t('register.email')} autoComplete="username" />
        <Field
          name="password"
          type="password"
          label={t('register.password')}
          help={t('register.passwordHelp')}
          autoComplete="new-password"
          minLength={10}
          maxLength={256}
        />
        <Field
          name="organization_name"
          label={t('register.organization')}
          autoComplete="organization"
          required={false}
          maxLength={100}
        />
        <Choice
          name="country"
          label={t('register.country')}
          help={t('register.countryHelp')}
          autoComplete="country"
          choices={[{ value: '', label: '' }, ...countries(language)]}
        />
      </Form>
      <Group gap="xs">
        <Text>{t('register.have')}</Text>
        <LinkTo to="/sign-in">{t('signIn.title')}</LinkTo>
      </Group>
    </Card>
  );
}
