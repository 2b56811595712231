import { useState } from 'react';
import { register } from '../../../client/generated/fields/register.ts';
import type { BodyOf, OperationAt } from '../../../client/index.ts';
import { useBrand } from '../data/brand.ts';
import { client } from '../data/client.ts';
import { countries } from '../text/countries.ts';
import { useText } from '../text/index.ts';
import { Anchor, Card, Choice, Field, Form, Group, LinkTo, Text, type Values } from '../ui/index.ts';
import { SendAgain } from './SendAgain.tsx';

type Registration = BodyOf<OperationAt<'post', '/auth/register'>>;

export function Register() {
  const { t, language } = useText();
  const isInvitedOnly = useBrand().registration === 'invited';
  const [sent, setSent] = useState<Values | null>(null);
  const [isWrong, setWrong] = useState(false);
  const send = async (values: Values) => {
    await client.post('/auth/register', { body: values as unknown as Registration });
    setWrong(false);
    setSent(values);
  };
  if (sent !== null && !isWrong) {
    const email = sent.email ?? '';
    // Nobody learns here who was invited: the answer is the same for every address.
    const text = isInvitedOnly ? t('register.sentTextInvited', { email }) : t('register.sentText', { email });
    return (
      <Card title={t('register.sent')} text={text}>
        <SendAgain email={email} text={t('register.notThere')} />
        <Anchor component="button" type="button" onClick={() => setWrong(true)} ta="start">
          {t('register.otherAddress')}
        </Anchor>
        <LinkTo to="/sign-in">{t('register.toSignIn')}</LinkTo>
      </Card>
    );
  }
  return (
    <Card title={t('register.title')} {...(isInvitedOnly ? { text: t('register.invitedText') } : {})}>
      <Form fields={register} submit={t('register.submit')} onSubmit={send}>
        <Field
          name="first_name"
          defaultValue={sent?.first_name}
          label={t('register.firstName')}
          autoComplete="given-name"
        />
        <Field
          name="last_name"
          defaultValue={sent?.last_name}
          label={t('register.lastName')}
          autoComplete="family-name"
        />
        <Field
          name="email"
          defaultValue={sent?.email}
          type="email"
          label={t('register.email')}
          autoComplete="username"
        />
        <Field
          name="password"
          type="password"
          label={t('register.password')}
          help={t('register.passwordHelp')}
          autoComplete="new-password"
        />
        <Field
          name="organization_name"
          defaultValue={sent?.organization_name}
          label={t('register.organization')}
          autoComplete="organization"
          required={false}
        />
        <Choice
          name="country"
          defaultValue={sent?.country}
          label={t('register.country')}
          help={t('register.countryHelp')}
          // Who buys something has to say it; who says it here is asked for nothing later.
          required
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
