import { useQuery } from '@tanstack/react-query';
import { server } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Alert, Progress, Text } from '../ui/index.ts';

/** Its installer tells of steps every few seconds, and no event does. */
const everyMs = 3_000;

/** That the server of a paid order is made ready, and how far it is. */
export function Delivery({ id }: { id: number }) {
  const { t } = useText();
  const { data } = useQuery({
    ...server(id),
    refetchInterval: ({ state }) => (state.error ? false : everyMs),
  });
  const now = data?.delivery ?? null;
  return (
    <Alert color="blue" title={t('server.making')}>
      {t('server.makingText')}
      {now !== null && (
        <div role="status">
          <Text size="sm" mt="sm" style={{ overflowWrap: 'anywhere' }}>
            <span aria-hidden="true">⟳ </span>
            {now.note ?? t('server.underWay')} · {now.progress} %
          </Text>
          <Progress value={now.progress} aria-label={t('server.making')} color="brand" mt={4} animated />
        </div>
      )}
    </Alert>
  );
}
