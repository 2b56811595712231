import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { forgetPassword } from '../../../client/generated/fields/forgetPassword.ts';
import { resetPassword } from '../../../client/generated/fields/resetPassword.ts';
import { ApiError } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { chooseOrganization } from '../data/organization.ts';
import { session, startOver } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  Anchor,
  Button,
  Card,
  Field,
  Form,
  Group,
  LinkButton,
  LinkTo,
  Loader,
  Refusal,
} from '../ui/index.ts';

/**
 * The token of the link in a mail. It leaves the address at once, so that neither the history nor whoever looks over
 * a shoulder keeps it.
 */
function useToken(): string | null {
  const { token } = useSearch({ strict: false }) as { token?: string };
  const kept = useRef(token ?? null);
  useEffect(() => window.history.replaceState(window.history.state, '', window.location.pathname), []);
  return kept.current;
}

function Missing() {
  const { t } = useText();
  return (
    <Card title={t('link.missing')} text={t('link.missingText')}>
      <LinkTo to="/">{t('link.toDashboard')}</LinkTo>
    </Card>
  );
}

function ToSignIn() {
  const { t } = useText();
  return <LinkButton to="/sign-in">{t('signIn.title')}</LinkButton>;
}

/** Whether a link opens nothing more: it was used, is too old, or lacks a part. */
const isWornOut = (error: unknown) => error instanceof ApiError && error.code === 'invalid_link';

/** Confirms by itself: whoever opens it has the mail, and a second opening changes nothing. */
export function VerifyEmail() {
  const { t } = useText();
  const token = useToken();
  const verify = useMutation({
    mutationFn: (given: string) => client.post('/auth/email/verify', { body: { token: given } }),
  });
  const { mutate } = verify;
  const isAsked = useRef(false);
  useEffect(() => {
    if (token === null || isAsked.current) return;
    isAsked.current = true;
    mutate(token);
  }, [token, mutate]);
  if (token === null) return <Missing />;
  if (verify.isSuccess)
    return (
      <Card title={t('link.verified')} text={t('link.verifiedText')}>
        <ToSignIn />
      </Card>
    );
  if (isWornOut(verify.error))
    return (
      <Card title={t('link.wornOut')} text={t('link.wornOutText')}>
        <ToSignIn />
      </Card>
    );
  return (
    <Card title={t(verify.isError ? 'link.notVerified' : 'link.verifying')}>
      {verify.isError ? (
        <Refusal error={verify.error} onRetry={() => mutate(token)} />
      ) : (
        <Loader role="img" aria-label={t('link.verifying')} />
      )}
    </Card>
  );
}

export function ForgotPassword() {
  const { t } = useText();
  const [isSent, setSent] = useState(false);
  if (isSent)
    return (
      <Card title={t('register.sent')} text={t('link.forgotSent')}>
        <Anchor component="button" type="button" onClick={() => setSent(false)} ta="start">
          {t('link.forgotAgain')}
        </Anchor>
        <LinkTo to="/sign-in">{t('register.toSignIn')}</LinkTo>
      </Card>
    );
  return (
    <Card title={t('link.forgotTitle')} text={t('link.forgotText')}>
      <Form
        fields={forgetPassword}
        submit={t('link.forgotSubmit')}
        onSubmit={async ({ email = '' }) => {
          await client.post('/auth/password/forgot', { body: { email } });
          setSent(true);
        }}
      >
        <Field name="email" type="email" label={t('signIn.email')} autoComplete="username" />
      </Form>
      <LinkTo to="/sign-in">{t('register.toSignIn')}</LinkTo>
    </Card>
  );
}

export function ResetPassword() {
  const { t } = useText();
  const token = useToken();
  const [isDone, setDone] = useState(false);
  const [isOver, setOver] = useState(false);
  if (token === null) return <Missing />;
  if (isOver)
    return (
      <Card title={t('link.wornOut')} text={t('link.resetOver')}>
        <LinkButton to="/forgot-password">{t('link.forgotSubmit')}</LinkButton>
      </Card>
    );
  if (isDone)
    return (
      <Card title={t('link.resetDone')} text={t('link.resetDoneText')}>
        <ToSignIn />
      </Card>
    );
  return (
    <Card title={t('link.resetTitle')}>
      <Form
        fields={resetPassword}
        submit={t('link.resetSubmit')}
        onSubmit={async ({ password = '' }) => {
          await client.post('/auth/password/reset', { body: { token, password } }).then(
            () => setDone(true),
            (error: unknown) => {
              if (!isWornOut(error)) throw error;
              setOver(true);
            },
          );
        }}
      >
        <Field
          name="password"
          type="password"
          label={t('link.newPassword')}
          help={t('register.passwordHelp')}
          autoComplete="new-password"
        />
      </Form>
    </Card>
  );
}

interface AskProps {
  title: string;
  text: string;
  button: string;
  act: (token: string) => Promise<unknown>;
  doneTitle: string;
  doneText?: string;
  after: ReactNode;
}

/** A link that changes something asks first: mail scanners open links, people press buttons. */
function Ask({ title, text, button, act, doneTitle, doneText, after }: AskProps) {
  const token = useToken();
  const acting = useMutation({ mutationFn: act });
  if (token === null) return <Missing />;
  if (acting.isSuccess)
    return (
      <Card title={doneTitle} text={doneText}>
        {after}
      </Card>
    );
  return (
    <Card title={title} text={text}>
      <Refusal error={acting.error} />
      <Button loading={acting.isPending} onClick={() => acting.mutate(token)}>
        {button}
      </Button>
    </Card>
  );
}

export function ConfirmEmailChange() {
  const { t } = useText();
  return (
    <Ask
      title={t('link.confirmEmailTitle')}
      text={t('link.confirmEmailText')}
      button={t('link.confirmEmail')}
      act={(token) => client.post('/auth/email/change/confirm', { body: { token } })}
      doneTitle={t('link.confirmEmailDone')}
      after={<ToSignIn />}
    />
  );
}

export function RevokeEmailChange() {
  const { t } = useText();
  return (
    <Ask
      title={t('link.revokeEmailTitle')}
      text={t('link.revokeEmailText')}
      button={t('link.revokeEmail')}
      act={(token) => client.post('/auth/email/change/revoke', { body: { token } })}
      doneTitle={t('link.revokeEmailDone')}
      doneText={t('link.revokeEmailDoneText')}
      after={null}
    />
  );
}

export function KeepSecondFactor() {
  const { t } = useText();
  return (
    <Ask
      title={t('link.keepTitle')}
      text={t('link.keepText')}
      button={t('link.keep')}
      act={(token) => client.post('/auth/second-factor/keep', { body: { token } })}
      doneTitle={t('link.keepDone')}
      after={<ToSignIn />}
    />
  );
}

const kept = 'innkeeper.invitation';

/** Whoever has to sign in first, or register, comes back: the token waits in this tab, out of the address. */
function useInvitationToken(): string | null {
  const given = useToken();
  const [token] = useState(() => given ?? sessionStorage.getItem(kept));
  useEffect(() => {
    if (token !== null) sessionStorage.setItem(kept, token);
  }, [token]);
  return token;
}

export function Invitation() {
  const { t } = useText();
  const token = useInvitationToken();
  const { data: signedIn } = useQuery(session);
  const accept = useMutation({
    mutationFn: async (given: string) => {
      const { organization } = await client.post('/dashboard/invitations/accept', { body: { token: given } });
      sessionStorage.removeItem(kept);
      chooseOrganization(organization.id);
      await startOver();
      return organization;
    },
  });
  if (token === null) return <Missing />;
  if (accept.isSuccess)
    return (
      <Card title={t('link.invitationDone', { name: accept.data.name })}>
        <LinkButton to="/">{t('app.toOverview')}</LinkButton>
      </Card>
    );
  if (!signedIn)
    return (
      <Card title={t('link.invitationTitle')} text={t('link.invitationSignIn')}>
        <LinkButton to="/sign-in" search={{ next: '/invitation' }}>
          {t('signIn.title')}
        </LinkButton>
        <LinkButton to="/register" variant="default">
          {t('signIn.register')}
        </LinkButton>
      </Card>
    );
  return (
    <Card title={t('link.invitationTitle')} text={t('link.invitationText')}>
      <Refusal error={accept.error} />
      <Button loading={accept.isPending} onClick={() => accept.mutate(token)}>
        {t('link.accept')}
      </Button>
    </Card>
  );
}

export function TicketFeedback() {
  const { t } = useText();
  const token = useToken();
  const rate = useMutation({
    mutationFn: (helped: boolean) =>
      client.post('/tickets/feedback', { body: { token: token ?? '', helped } }),
  });
  if (token === null) return <Missing />;
  if (rate.isSuccess) return <Card title={t('link.feedbackDone')} />;
  return (
    <Card title={t('link.feedbackTitle')} text={t('link.feedbackText')}>
      <Refusal error={rate.error} />
      <Group>
        <Button loading={rate.isPending} onClick={() => rate.mutate(true)}>
          {t('link.helped')}
        </Button>
        <Button variant="default" loading={rate.isPending} onClick={() => rate.mutate(false)}>
          {t('link.notHelped')}
        </Button>
      </Group>
    </Card>
  );
}
