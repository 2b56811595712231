import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { updateAccountDetails } from '../../../client/generated/fields/updateAccountDetails.ts';
import { client } from '../data/client.ts';
import { session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Field, Form, Page, Section, SimpleGrid, Text } from '../ui/index.ts';
import { AccountTabs } from './AccountTabs.tsx';
import { AuthenticatorApp } from './AuthenticatorApp.tsx';
import { Passkeys } from './Passkeys.tsx';
import { RecoveryCodes } from './RecoveryCodes.tsx';
import { Sessions } from './Sessions.tsx';

/** How an account is signed in to, and by whom it was. */
export function Security() {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (!signedIn) return null;
  const { user, passkeys } = signedIn;
  const hasFactor = user.twoFactorAuthentication || passkeys.length > 0;
  return (
    <Page title={t('security.title')}>
      <AccountTabs />
      <Password email={user.email} />
      <Passkeys passkeys={passkeys} onCodes={setCodes} />
      <AuthenticatorApp isOn={user.twoFactorAuthentication} onCodes={setCodes} />
      {(hasFactor || codes !== null) && <RecoveryCodes codes={codes} onCodes={setCodes} />}
      <Sessions />
    </Page>
  );
}

function Password({ email }: { email: string }) {
  const { t } = useText();
  const [times, setTimes] = useState(0);
  return (
    <Section title={t('signIn.password')}>
      <Form
        fields={updateAccountDetails}
        key={times}
        submit={t('security.passwordSet')}
        onSubmit={async ({ current_password, password }) => {
          await client.patch('/dashboard/account', { body: { current_password, password } });
          setTimes((before) => before + 1);
        }}
        beside={times > 0 && <Text role="status">{t('security.passwordDone')}</Text>}
      >
        {/* Where browsers keep passwords they look for whose it is. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Field
            name="current_password"
            type="password"
            label={t('security.passwordNow')}
            help={t('security.passwordNowHelp')}
            autoComplete="current-password"
          />
          <Field
            name="password"
            type="password"
            label={t('link.newPassword')}
            help={t('register.passwordHelp')}
            autoComplete="new-password"
          />
        </SimpleGrid>
      </Form>
    </Section>
  );
}
