import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { queryClient, session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Button, Copy, Dialog, Field, Form, Group, Refusal, Section, Text } from '../ui/index.ts';
import { QrCode } from './QrCode.tsx';

interface AuthenticatorAppProps {
  isOn: boolean;
  onCodes: (codes: readonly string[]) => void;
}

const readAnew = () => queryClient.invalidateQueries({ queryKey: session.queryKey });

/** The second factor that an app on a phone makes codes for. */
export function AuthenticatorApp({ isOn, onCodes }: AuthenticatorAppProps) {
  const { t } = useText();
  return <Section title={t('security.app')}>{isOn ? <TurnOff /> : <SetUp onCodes={onCodes} />}</Section>;
}

function TurnOff() {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Text>{t('security.on')}</Text>
      <Button variant="default" onClick={() => setOpen(true)} style={{ alignSelf: 'flex-start' }}>
        {t('security.turnOff')}
      </Button>
      <Dialog title={`${t('security.turnOff')}?`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Text>{t('security.turnOffLoses')}</Text>
        <Form
          submit={t('security.turnOff')}
          onSubmit={async ({ code = '' }) => {
            const plain = code.replaceAll(' ', '');
            const body = /^\d{6}$/.test(plain) ? { code: plain } : { recovery_code: code };
            await client.post('/dashboard/account/2fa/disable', { body });
            setOpen(false);
            await readAnew();
          }}
        >
          <Field name="code" label={t('security.codeOrRecovery')} autoComplete="one-time-code" autoFocus />
        </Form>
      </Dialog>
    </>
  );
}

function SetUp({ onCodes }: Pick<AuthenticatorAppProps, 'onCodes'>) {
  const { t } = useText();
  const [factor, setFactor] = useState<Schema<'NewSecondFactor'> | null>(null);
  const begin = useMutation({
    mutationFn: async () => setFactor(await client.post('/dashboard/account/2fa/setup')),
  });
  if (factor === null)
    return (
      <>
        <Text>{t('security.off')}</Text>
        <Refusal error={begin.error} />
        <Button style={{ alignSelf: 'flex-start' }} loading={begin.isPending} onClick={() => begin.mutate()}>
          {t('security.setUp')}
        </Button>
      </>
    );
  return (
    <>
      <Text>{t('security.scan')}</Text>
      <Group align="start" gap="xl">
        <QrCode text={factor.otpauth_url} label={t('security.qr')} />
        <div>
          <Text mb="xs">{t('security.secret')}</Text>
          <Copy text={factor.secret} />
        </div>
      </Group>
      <Form
        submit={t('security.enable')}
        onSubmit={async ({ code = '' }) => {
          const body = { code: code.replaceAll(' ', '') };
          const { recovery_codes } = await client.post('/dashboard/account/2fa/enable', { body });
          onCodes(recovery_codes);
          await readAnew();
        }}
      >
        <Field name="code" label={t('signIn.code')} inputMode="numeric" autoComplete="one-time-code" />
      </Form>
    </>
  );
}
