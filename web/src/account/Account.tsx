import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { updateAccountDetails } from '../../../client/generated/fields/updateAccountDetails.ts';
import { updatePreferences } from '../../../client/generated/fields/updatePreferences.ts';
import { ApiError, type Schema } from '../../../client/index.ts';
import { useBrand } from '../data/brand.ts';
import { client } from '../data/client.ts';
import { choicesOf } from '../data/fields.ts';
import { endSession, queryClient, type Session, session } from '../data/queries/index.ts';
import { saveFile } from '../data/saveFile.ts';
import { languages, useText } from '../text/index.ts';
import {
  Bullets,
  Button,
  Choice,
  ConfirmByName,
  Field,
  Form,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Text,
  Tick,
} from '../ui/index.ts';
import { AccountTabs } from './AccountTabs.tsx';

type Preferences = Schema<'Preferences'>;

const readAnew = () => queryClient.invalidateQueries({ queryKey: session.queryKey });

/** Who somebody is, how they want to be told things, and what becomes of their data. */
export function Account() {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  if (!signedIn) return null;
  return (
    <Page title={t('account.title')}>
      <AccountTabs />
      <Person user={signedIn.user} />
      <Email user={signedIn.user} />
      <Wishes session={signedIn} />
      <Export />
      <Close user={signedIn.user} />
    </Page>
  );
}

function Person({ user }: { user: Session['user'] }) {
  const { t } = useText();
  const [isSaved, setSaved] = useState(false);
  return (
    <Section title={t('account.person')}>
      <Form
        fields={updateAccountDetails}
        submit={t('app.save')}
        onSubmit={async ({ first_name, last_name, phone, billing_email, abuse_email }) => {
          setSaved(false);
          await client.patch('/dashboard/account', {
            body: {
              first_name,
              last_name,
              phone: phone ?? null,
              billing_email: billing_email ?? null,
              abuse_email: abuse_email ?? null,
            },
          });
          await readAnew();
          setSaved(true);
        }}
        beside={isSaved && <Text role="status">{t('app.saved')}</Text>}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Field
            name="first_name"
            label={t('register.firstName')}
            defaultValue={user.first_name}
            autoComplete="given-name"
          />
          <Field
            name="last_name"
            label={t('register.lastName')}
            defaultValue={user.last_name}
            autoComplete="family-name"
          />
          <Field
            name="phone"
            label={t('account.phone')}
            required={false}
            defaultValue={user.phone ?? ''}
            autoComplete="tel"
          />
          <Field
            name="billing_email"
            type="email"
            label={t('account.billingEmail')}
            help={t('account.billingEmailHelp')}
            required={false}
            defaultValue={user.billing_email ?? ''}
          />
          <Field
            name="abuse_email"
            type="email"
            label={t('account.abuseEmail')}
            help={t('account.abuseEmailHelp')}
            required={false}
            defaultValue={user.abuse_email ?? ''}
          />
        </SimpleGrid>
      </Form>
    </Section>
  );
}

function Email({ user }: { user: Session['user'] }) {
  const { t } = useText();
  const [asked, setAsked] = useState(0);
  return (
    <Section title={t('signIn.email')}>
      <Text style={{ overflowWrap: 'anywhere' }}>{t('account.emailNow', { email: user.email })}</Text>
      {user.pending_email !== null && (
        <Text role="status" style={{ overflowWrap: 'anywhere' }}>
          {t('account.emailWaits', { email: user.pending_email })}
        </Text>
      )}
      <Form
        fields={updateAccountDetails}
        key={asked}
        submit={t('account.emailChange')}
        onSubmit={async ({ email }) => {
          await client.patch('/dashboard/account', { body: { email } });
          await readAnew();
          setAsked((before) => before + 1);
        }}
      >
        <Field
          name="email"
          type="email"
          label={t('account.emailNew')}
          help={t('account.emailHelp')}
          autoComplete="email"
        />
      </Form>
    </Section>
  );
}

function Wishes({ session: { preferences, organizations } }: { session: Session }) {
  const { t } = useText();
  const { languages: offered } = useBrand();
  const [isSaved, setSaved] = useState(false);
  const zones = Intl.supportedValuesOf('timeZone');
  return (
    <Section title={t('account.wishes')}>
      <Form
        fields={updatePreferences}
        submit={t('app.save')}
        onSubmit={async (values) => {
          setSaved(false);
          await client.post('/dashboard/account/preferences', {
            body: {
              language: values.language,
              timezone: values.timezone as Schema<'NewPreferences'>['timezone'],
              theme: values.theme as Preferences['theme'],
              notifications: {
                payments: values.payments !== undefined,
                services: values.services !== undefined,
              },
              email_subscribed: values.email_subscribed !== undefined,
              show_cancelled_items: values.show_cancelled_items !== undefined,
              default_organization_id: Number(values.default_organization_id) || null,
            },
          });
          await readAnew();
          setSaved(true);
        }}
        beside={isSaved && <Text role="status">{t('app.saved')}</Text>}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Choice
            name="language"
            label={t('account.language')}
            help={t('account.languageHelp')}
            defaultValue={preferences.language}
            choices={offered.map((value) => ({ value, label: languages[value] }))}
          />
          <Choice
            name="timezone"
            label={t('account.zone')}
            help={t('account.zoneHelp')}
            defaultValue={preferences.timezone}
            choices={[...new Set([preferences.timezone, 'UTC', ...zones])].map((value) => ({
              value,
              label: value.replaceAll('_', ' '),
            }))}
          />
          <Choice
            name="theme"
            label={t('account.theme')}
            defaultValue={preferences.theme}
            choices={choicesOf(updatePreferences.theme, (value) => t(`theme.${value}`))}
          />
          <Choice
            name="default_organization_id"
            label={t('account.organization')}
            help={t('account.organizationHelp')}
            required={false}
            defaultValue={String(preferences.default_organization_id ?? '')}
            choices={[
              { value: '', label: t('account.firstOne') },
              ...organizations.map(({ id, name }) => ({ value: String(id), label: name })),
            ]}
          />
        </SimpleGrid>
        <Tick
          name="payments"
          label={t('account.tellPayments')}
          defaultChecked={preferences.notifications.payments}
        />
        <Tick
          name="services"
          label={t('account.tellServices')}
          defaultChecked={preferences.notifications.services}
        />
        <Tick
          name="email_subscribed"
          label={t('account.tellNews')}
          defaultChecked={preferences.email_subscribed}
        />
        <Tick
          name="show_cancelled_items"
          label={t('account.showCancelled')}
          defaultChecked={preferences.show_cancelled_items}
        />
      </Form>
    </Section>
  );
}

function Export() {
  const { t } = useText();
  const take = useMutation({
    mutationFn: async () => saveFile(await client.file('/dashboard/account/export'), t('account.exportName')),
  });
  return (
    <Section title={t('account.export')}>
      <Text>{t('account.exportText')}</Text>
      <Refusal error={take.error} />
      <Button
        variant="default"
        loading={take.isPending}
        onClick={() => take.mutate()}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('account.exportTake')}
      </Button>
    </Section>
  );
}

/** Not undone by anybody: asks for the address, says what holds it up, and what of it the law wants kept. */
function Close({ user }: { user: Session['user'] }) {
  const { t } = useText();
  const navigate = useNavigate();
  const [isAsked, setAsked] = useState(false);
  const [giveUp, setGiveUp] = useState(false);
  const close = useMutation({
    mutationFn: async () => {
      await client.post('/dashboard/account/close', { body: { give_up_credit: giveUp } });
      await endSession();
      await navigate({ to: '/sign-in' });
    },
  });
  const holds = close.error instanceof ApiError ? close.error.details : [];
  return (
    <Section title={t('account.close')}>
      <Text>{t('account.closeText')}</Text>
      <Refusal error={close.error} />
      {holds.length > 0 && (
        <Bullets>
          {holds.map(({ field, message }) => (
            <Bullets.Item key={`${field} ${message}`}>{message}</Bullets.Item>
          ))}
        </Bullets>
      )}
      <Tick
        name="give_up_credit"
        label={t('account.giveUp')}
        help={t('account.giveUpHelp')}
        isOn={giveUp}
        onChange={setGiveUp}
      />
      <Button
        color="red"
        variant="light"
        loading={close.isPending}
        onClick={() => setAsked(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('account.close')}
      </Button>
      <ConfirmByName
        title={t('account.closeAsk')}
        text={t('account.closeLoses')}
        button={t('account.close')}
        name={user.email}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          close.mutate();
        }}
      />
    </Section>
  );
}
