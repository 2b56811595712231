import { Alert, Button, Group, List, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError, type ErrorCode, UnreachableError } from '../../../client/index.ts';
import { session } from '../data/queries/session.ts';
import { sayDetail } from '../text/details.ts';
import { type Language, useText } from '../text/index.ts';
import usual from '../text/refusals/api.json';
import { LinkTo } from './LinkTo.tsx';

/** What went wrong, in two sentences: ours, and the API's own where it knows more of this one case. */
interface Sentences {
  general: string;
  /** In English, whatever the language is; null when it says no more. */
  specific: string | null;
}

/** Whether a message is one of this case alone, and not what the API says of every case of a code. */
function isOwn(code: ErrorCode, message: string): boolean {
  return message !== (usual as Partial<Record<ErrorCode, string>>)[code];
}

function useSentences(): (error: unknown) => Sentences {
  const { t, language } = useText();
  return (error) => {
    if (error instanceof UnreachableError) return { general: t('error.unreachable'), specific: null };
    if (!(error instanceof ApiError)) return { general: t('error.unexpected'), specific: null };
    const { code, message, retryAfter } = error;
    const general = t(`refusal.${code}`);
    const wait = retryAfter === null ? '' : ` ${t('error.wait', { time: duration(retryAfter, language) })}`;
    return { general: `${general}${wait}`, specific: isOwn(code, message) ? message : null };
  };
}

/** Seconds as people say them: `3 minutes`. */
function duration(seconds: number, language: Language): string {
  const [amount, unit] =
    seconds < 90
      ? [Math.max(1, seconds), 'second']
      : seconds < 5_400
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3_600), 'hour'];
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(amount);
}

/** What went wrong, as plain text for whoever looks; with what to do about it. */
export function useSentence(): (error: unknown) => string {
  const sentences = useSentences();
  return (error) => {
    const { general, specific } = sentences(error);
    return specific === null ? general : `${general} ${specific}`;
  };
}

/** Why something is not possible now, as `actions` say it. */
export function Reason({ code, reason }: { code?: ErrorCode | null; reason: string | null }): ReactNode {
  const { t } = useText();
  if (code === null || code === undefined) return reason;
  if (reason === null || !isOwn(code, reason)) return t(`refusal.${code}`);
  return (
    <>
      {t(`refusal.${code}`)} <span lang="en">{reason}</span>
    </>
  );
}

/** What is wrong with a field. */
export function Detail({ message }: { message: string }): ReactNode {
  const { t } = useText();
  return sayDetail(t, message) ?? <span lang="en">{message}</span>;
}

/** Headers, of which no form has a field: what they say stands in the sentence. */
const isOfForm = (field: string) => !field.startsWith('x-') && !field.startsWith('query.');

interface RefusalProps {
  error: unknown;
  /** Says what could not be done, before why: `Could not read the services.` */
  title?: string;
  onRetry?: () => void;
  /** What else can be done about it. */
  children?: ReactNode;
}

export function Refusal({ error, title, onRetry, children }: RefusalProps) {
  const { t } = useText();
  const sentences = useSentences();
  if (!error) return null;
  const { general, specific } = sentences(error);
  const requestId = error instanceof ApiError ? error.requestId : null;
  const details = error instanceof ApiError ? error.details.filter(({ field }) => isOfForm(field)) : [];
  return (
    <Alert color="red" role="alert" title={title} my="sm">
      <Text size="sm">{general}</Text>
      {specific !== null && (
        <Text size="sm" lang="en">
          {specific}
        </Text>
      )}
      {details.length > 0 && (
        <List size="sm" mt="xs">
          {details.map(({ field, message }) => (
            <List.Item key={field}>
              <b lang="en">{field}</b>: <Detail message={message} />
            </List.Item>
          ))}
        </List>
      )}
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
          {requestId !== null && <AskAbout requestId={requestId} />}
        </Group>
      )}
      {children}
    </Alert>
  );
}

/** A ticket that names the request, one press away for customers who may write one. */
function AskAbout({ requestId }: { requestId: string }) {
  const { t } = useText();
  const where = useRouterState({ select: ({ location }) => location.pathname });
  const signedIn = useQueryClient().getQueryData(session.queryKey);
  const mayWrite = signedIn?.organization?.permissions.includes('ticket.write') === true;
  // Staff has nobody to ask, and whoever writes a ticket is asking.
  if (!mayWrite || where.startsWith('/staff') || where === '/tickets/new') return null;
  return (
    <LinkTo to="/tickets/new" search={{ request: requestId }} size="xs" c="inherit">
      {t('app.askAbout')}
    </LinkTo>
  );
}
