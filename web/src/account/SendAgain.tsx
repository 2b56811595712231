import { useMutation } from '@tanstack/react-query';
import { client } from '../data/client.ts';
import { useText } from '../text/index.ts';
import { Anchor, Refusal, Text } from '../ui/index.ts';

/** For whoever has registered, and may not have confirmed the address yet; `text` says so. */
export function SendAgain({ email, text }: { email: string; text: string }) {
  const { t } = useText();
  const resend = useMutation({ mutationFn: () => client.post('/auth/email/resend', { body: { email } }) });
  return (
    <div role="status">
      <Text>{resend.isSuccess ? t('signIn.resent') : text}</Text>
      {!resend.isSuccess && (
        <Anchor component="button" type="button" onClick={() => resend.mutate()}>
          {t('signIn.resend')}
        </Anchor>
      )}
      <Refusal error={resend.error} />
    </div>
  );
}
