import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { logIn } from '../../../client/generated/fields/logIn.ts';
import { ApiError, type Schema } from '../../../client/index.ts';
import { useBrand } from '../data/brand.ts';
import { client } from '../data/client.ts';
import { startOver } from '../data/queries/index.ts';
import { rememberSignedIn } from '../data/signedIn.ts';
import { useText } from '../text/index.ts';
import { Anchor, Button, Card, Field, Form, Group, LinkTo, Refusal, Text, type Values } from '../ui/index.ts';
import { nextOf } from './next.ts';
import { NoPasskeyError, offerPasskey, showPasskey } from './passkey.ts';
import { SendAgain } from './SendAgain.tsx';

type Methods = Schema<'SignedIn'>['methods'];

export function SignIn() {
  const { t, language } = useText();
  const { sign_in: greeting, registration } = useBrand();
  const { next, ended } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const enter = async () => {
    await startOver();
    await navigate({ href: nextOf(next), replace: true });
  };
  return (
    <SignInSteps
      onSignedIn={enter}
      frame={(step) => <Card {...step} />}
      text={ended ? t('signIn.again') : (greeting[language] ?? undefined)}
    >
      <LinkTo to="/forgot-password">{t('signIn.forgot')}</LinkTo>
      {registration === 'everybody' && (
        <Group gap="xs">
          <Text>{t('signIn.new')}</Text>
          <LinkTo to="/register">{t('signIn.register')}</LinkTo>
        </Group>
      )}
    </SignInSteps>
  );
}

/** A question of signing in, and what stands around it on its page or in a dialog. */
interface Step {
  title: string;
  text?: string;
  children: ReactNode;
}

interface SignInStepsProps {
  /** Of the first question. */
  text?: string;
  /** Whose address is known already. */
  email?: string;
  frame: (step: Step) => ReactNode;
  onSignedIn: (userId: number) => Promise<void>;
  /** Below the first question. */
  children?: ReactNode;
}

/** Password or passkey, and the second factor where there is one. */
export function SignInSteps({ text, email: known, frame, onSignedIn, children }: SignInStepsProps) {
  const { t } = useText();
  const [methods, setMethods] = useState<Methods | null>(null);
  const [unverified, setUnverified] = useState<string | null>(null);

  const goOn = async ({ second_factor_required, methods: wanted, user }: Schema<'SignedIn'>) => {
    if (second_factor_required) return setMethods(wanted);
    rememberSignedIn(user?.id ?? 0);
    await onSignedIn(user?.id ?? 0);
  };
  const enter = async ({ email = '', password = '' }: Values) => {
    setUnverified(null);
    try {
      await goOn(await client.post('/auth/login', { body: { email, password } }));
    } catch (error) {
      // Why, the API does not tell: anybody could ask. Whoever was signed in here before has confirmed theirs.
      const isWrong = error instanceof ApiError && error.code === 'invalid_credentials';
      if (isWrong && known === undefined) setUnverified(email);
      throw error;
    }
  };
  const offered = useOfferedPasskey(methods === null, goOn);
  const byPasskey = useMutation({
    mutationFn: async () => {
      // A browser asks for one at a time.
      const isSignedIn = await offered.stop();
      if (!isSignedIn) await goOn(await showPasskey(false));
    },
    onError: offered.again,
  });

  if (methods !== null) return <SecondFactor methods={methods} onShown={goOn} frame={frame} />;
  return frame({
    title: t('signIn.title'),
    text,
    children: (
      <>
        <Form
          fields={logIn}
          submit={t('signIn.submit')}
          onSubmit={enter}
          beside={
            <Button variant="default" loading={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
              {t('signIn.passkey')}
            </Button>
          }
        >
          <Field
            name="email"
            type="email"
            label={t('signIn.email')}
            autoComplete="username webauthn"
            defaultValue={known}
          />
          <Field
            name="password"
            type="password"
            label={t('signIn.password')}
            autoComplete="current-password"
            autoFocus={known !== undefined}
          />
        </Form>
        <PasskeyRefusal error={byPasskey.error ?? offered.error} />
        {unverified !== null && <SendAgain email={unverified} text={t('signIn.unverified')} />}
        {children}
      </>
    ),
  });
}

/** Has the browser offer passkeys while `wanted`, and goes on with the one that is chosen; `stop` says whether one was. */
function useOfferedPasskey(wanted: boolean, goOn: (answer: Schema<'SignedIn'>) => Promise<void>) {
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const stop = useRef(async () => false);
  const next = useRef(goOn);
  useEffect(() => {
    next.current = goOn;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round offers them anew
  useEffect(() => {
    if (!wanted) return;
    const offer = new AbortController();
    const offered = async () => {
      const answer = await offerPasskey(offer.signal);
      if (answer !== null) await next.current(answer);
      return answer !== null;
    };
    const ended = offered().catch((refusal: unknown) => {
      setError(refusal);
      // Another one may be good: they are offered anew.
      if (!offer.signal.aborted) setRound((before) => before + 1);
      return false;
    });
    stop.current = async () => {
      setError(null);
      offer.abort();
      return ended;
    };
    return () => offer.abort();
  }, [wanted, round]);
  return { error, stop: () => stop.current(), again: () => setRound((before) => before + 1) };
}

export function PasskeyRefusal({ error }: { error: unknown }) {
  const { t } = useText();
  if (error instanceof NoPasskeyError) return <Text role="alert">{t('signIn.passkeyStopped')}</Text>;
  return <Refusal error={error} />;
}

interface SecondFactorProps {
  methods: Methods;
  frame: (step: Step) => ReactNode;
  onShown: (answer: Schema<'SignedIn'>) => Promise<void>;
}

function SecondFactor({ methods, frame, onShown }: SecondFactorProps) {
  const { t } = useText();
  const [isRecovery, setRecovery] = useState(!methods.includes('totp') && methods.includes('recovery_code'));
  const byPasskey = useMutation({ mutationFn: async () => onShown(await showPasskey(true)) });
  const show = async (values: Values) => {
    const body = isRecovery
      ? { recovery_code: values.recovery_code }
      : { code: values.code?.replaceAll(' ', '') };
    await onShown(await client.post('/auth/login/2fa', { body }));
  };
  const hasCode = methods.includes('totp') || methods.includes('recovery_code');
  return frame({
    title: t('signIn.factorTitle'),
    text: hasCode ? t(isRecovery ? 'signIn.recoveryText' : 'signIn.factorText') : undefined,
    children: (
      <>
        {hasCode && (
          <Form key={String(isRecovery)} submit={t('signIn.goOn')} onSubmit={show}>
            {isRecovery ? (
              <Field name="recovery_code" label={t('signIn.recoveryCode')} autoComplete="off" autoFocus />
            ) : (
              <Field
                name="code"
                label={t('signIn.code')}
                autoComplete="one-time-code"
                inputMode="numeric"
                autoFocus
              />
            )}
          </Form>
        )}
        {methods.includes('passkey') && (
          <Button variant="default" loading={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            {t('signIn.usePasskey')}
          </Button>
        )}
        <PasskeyRefusal error={byPasskey.error} />
        {methods.includes('totp') && methods.includes('recovery_code') && (
          <Anchor component="button" type="button" ta="start" onClick={() => setRecovery(!isRecovery)}>
            {t(isRecovery ? 'signIn.useApp' : 'signIn.useRecovery')}
          </Anchor>
        )}
      </>
    ),
  });
}
