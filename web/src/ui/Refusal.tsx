import { Alert, Button, Group, Text } from '@mantine/core';
import { ApiError, UnreachableError } from '../../../client/index.ts';
import { useText } from '../text/index.ts';

/** What went wrong, as a sentence for whoever looks; with what to do about it. */
export function useSentence(): (error: unknown) => string {
  const { t } = useText();
  return (error) => {
    if (error instanceof UnreachableError) return t('error.unreachable');
    if (!(error instanceof ApiError)) return t('error.unexpected');
    if (error.code === 'permission_denied') return t('error.forbidden');
    if (error.code === 'not_found') return t('error.notFound');
    return error.message;
  };
}

interface RefusalProps {
  error: unknown;
  /** Says what could not be done, before why: `Could not read the services.` */
  title?: string;
  onRetry?: () => void;
}

export function Refusal({ error, title, onRetry }: RefusalProps) {
  const { t } = useText();
  const sentence = useSentence();
  if (!error) return null;
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <Alert color="red" role="alert" title={title} my="sm">
      <Text size="sm">{sentence(error)}</Text>
      {(onRetry !== undefined || requestId !== null) && (
        <Group mt="xs" gap="md">
          {onRetry !== undefined && (
            <Button size="xs" variant="default" onClick={onRetry}>
              {t('app.retry')}
            </Button>
          )}
          {requestId !== null && (
            <Text size="xs" c="dimmed">
              {t('app.requestId', { id: requestId })}
            </Text>
          )}
        </Group>
      )}
    </Alert>
  );
}
