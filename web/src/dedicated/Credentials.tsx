import { useMutation, useQuery } from '@tanstack/react-query';
import { client } from '../data/client.ts';
import { serverCredentials } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Button, Copy, Fact, Group, Refusal, Section, Stack, Text } from '../ui/index.ts';

/** The password that we made for a server, which is shown once; nothing where there is none. */
export function Credentials({ id }: { id: number }) {
  const { t, language } = useText();
  const { data, refetch } = useQuery(serverCredentials(id));
  const show = useMutation({
    mutationFn: async () =>
      (await client.post('/dashboard/service/{id}/dedicated/credentials', { path: { id } })).credentials,
    onSettled: () => void refetch(),
  });
  const found = data?.credentials;
  if (!found) return null;
  return (
    <Section title={t('access.password')}>
      <Stack gap="xs">
        <Fact name={t('server.user')}>{found.username}</Fact>
        {show.data !== undefined && (
          <>
            <Copy text={show.data.password} />
            <Text size="sm">{t('access.passwordOnce')}</Text>
          </>
        )}
        {show.data === undefined && found.available && (
          <>
            <Text size="sm">{t('server.passwordWaits')}</Text>
            <Group>
              <Button size="xs" loading={show.isPending} onClick={() => show.mutate()}>
                {t('server.showOnce')}
              </Button>
            </Group>
          </>
        )}
        {show.data === undefined && found.shown_at !== null && (
          <Text size="sm">
            {t('server.passwordShown', {
              time: moment(found.shown_at, language),
              who: found.shown_to ?? t('server.somebody'),
            })}
          </Text>
        )}
        {show.error !== null && <Refusal error={show.error} />}
      </Stack>
    </Section>
  );
}
