import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { queryClient, session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Bullets, Button, Copy, Field, Form, Page, Refusal, Section, Text } from '../ui/index.ts';

/** The second factor of whoever is signed in: an authenticator app. */
export function Security() {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const isOn = signedIn?.user.twoFactorAuthentication === true;
  return (
    <Page title={t('security.title')}>
      <Section title={t('security.app')}>
        {codes !== null ? (
          <RecoveryCodes codes={codes} />
        ) : isOn ? (
          <Text>{t('security.on')}</Text>
        ) : (
          <SetUp onDone={setCodes} />
        )}
      </Section>
    </Page>
  );
}

function SetUp({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const { t } = useText();
  const [factor, setFactor] = useState<Schema<'NewSecondFactor'> | null>(null);
  const begin = useMutation({
    mutationFn: async () => setFactor(await client.post('/dashboard/account/2fa/setup')),
  });
  if (factor !== null)
    return (
      <>
        <Text>{t('security.secret')}</Text>
        <Copy text={factor.secret} />
        <Form
          submit={t('security.enable')}
          onSubmit={async ({ code = '' }) => {
            const body = { code: code.replaceAll(' ', '') };
            const { recovery_codes } = await client.post('/dashboard/account/2fa/enable', { body });
            onDone(recovery_codes);
            await queryClient.invalidateQueries({ queryKey: session.queryKey });
          }}
        >
          <Field name="code" label={t('signIn.code')} inputMode="numeric" autoComplete="one-time-code" />
        </Form>
      </>
    );
  return (
    <>
      <Text>{t('security.off')}</Text>
      <Refusal error={begin.error} />
      <Button style={{ alignSelf: 'flex-start' }} loading={begin.isPending} onClick={() => begin.mutate()}>
        {t('security.setUp')}
      </Button>
    </>
  );
}

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useText();
  return (
    <>
      <Text role="status" fw={600}>
        {t('security.on')}
      </Text>
      <Text>{t('security.codes')}</Text>
      <Bullets ff="monospace">
        {codes.map((code) => (
          <Bullets.Item key={code}>{code}</Bullets.Item>
        ))}
      </Bullets>
    </>
  );
}
