import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../data/client.ts';
import { actAs, acting } from '../data/impersonation.ts';
import { startOver } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Alert, Button, Group, Refusal, Text } from '../ui/index.ts';

/** Says to staff, over every page, as whom they act and until when. */
export function Acting() {
  const { t, language } = useText();
  const navigate = useNavigate();
  const now = acting();
  const end = useMutation({
    mutationFn: async () => {
      if (now === null) return;
      // By staff's own session: what acts as the customer cannot end itself.
      actAs(null);
      await client
        .post('/staff/impersonations/{id}/end', { path: { id: now.impersonation.id } })
        .catch(() => undefined);
      await startOver();
      await navigate({ to: '/staff/users/$id', params: { id: String(now.impersonation.user.id) } });
    },
  });
  if (now === null) return null;
  const { user, expires_at: until, read_only: readsAlone } = now.impersonation;
  const texts = { email: user.email, until: moment(until, language) };
  return (
    <Alert color="yellow" mb="md" role="status">
      <Group justify="space-between" gap="sm">
        <Text style={{ overflowWrap: 'anywhere' }}>
          {t(readsAlone ? 'acting.reads' : 'acting.changes', texts)}
        </Text>
        <Button size="xs" loading={end.isPending} onClick={() => end.mutate()}>
          {t('acting.end')}
        </Button>
      </Group>
      <Refusal error={end.error} />
    </Alert>
  );
}
