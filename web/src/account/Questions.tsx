import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { reauthenticate } from '../../../client/generated/fields/reauthenticate.ts';
import { ApiError } from '../../../client/index.ts';
import { answerLack, lackSession, useLack } from '../data/asking.ts';
import { client } from '../data/client.ts';
import { endSession, session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Button, Dialog, Field, Form, Stack, Text, type Values, WithoutCode } from '../ui/index.ts';
import { proveByPasskey } from './passkey.ts';
import { PasskeyRefusal, SignInSteps } from './SignIn.tsx';

/** What is asked of whoever looks, above the page that made the call: to prove again who they are, or to sign in anew. */
export function Questions() {
  const { t } = useText();
  const lack = useLack();
  const queries = useQueryClient();
  // As it was read: reading it anew is what may wait for the answer.
  const signedIn = queries.getQueryData(session.queryKey);
  const navigate = useNavigate();
  if (!signedIn) return null;
  const { user, passkeys } = signedIn;
  const onSignedIn = async (userId: number) => {
    // Somebody else: nothing of what was typed here is done in their name.
    if (userId !== user.id) return window.location.reload();
    answerLack(true);
    await queries.invalidateQueries();
  };
  const leave = async () => {
    const { pathname, search } = window.location;
    await endSession();
    answerLack(false);
    await navigate({ to: '/sign-in', search: { next: pathname + search, ended: true } });
  };
  if (lack === 'session')
    return (
      <SignInSteps
        text={t('proof.ended')}
        email={user.email}
        onSignedIn={onSignedIn}
        frame={(step) => <Question {...step} onClose={() => void leave()} />}
      />
    );
  return lack === 'proof' && <Again email={user.email} hasPasskey={passkeys.length > 0} />;
}

function Again({ email, hasPasskey }: { email: string; hasPasskey: boolean }) {
  const { t } = useText();
  const prove = async (how: () => Promise<unknown>) => {
    try {
      await how();
      answerLack(true);
    } catch (error) {
      // Nobody is signed in any more, so there is nobody to prove.
      if (!(error instanceof ApiError) || error.code !== 'unauthorized') throw error;
      lackSession();
    }
  };
  const byPasskey = useMutation({ mutationFn: () => prove(proveByPasskey) });
  const byPassword = ({ password = '' }: Values) =>
    prove(() => client.post('/auth/reauthenticate', { body: { password } }));
  return (
    <Question title={t('proof.title')} text={t('proof.text')} onClose={() => answerLack(false)}>
      <Form
        fields={reauthenticate}
        submit={t('signIn.goOn')}
        onSubmit={byPassword}
        beside={
          hasPasskey && (
            <Button variant="default" loading={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
              {t('signIn.usePasskey')}
            </Button>
          )
        }
      >
        {/* Where browsers keep passwords they look for whose it is. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <Field
          name="password"
          type="password"
          label={t('signIn.password')}
          autoComplete="current-password"
          autoFocus
        />
      </Form>
      <PasskeyRefusal error={byPasskey.error} />
    </Question>
  );
}

interface QuestionProps {
  title: string;
  text?: string;
  onClose: () => void;
  children: ReactNode;
}

function Question({ title, text, onClose, children }: QuestionProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <Stack>
        <WithoutCode>
          {text !== undefined && <Text>{text}</Text>}
          {children}
        </WithoutCode>
      </Stack>
    </Dialog>
  );
}
