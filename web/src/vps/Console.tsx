import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client } from '../data/client.ts';
import { service } from '../data/queries/index.ts';
import { type ConsoleKind, consoleKinds } from '../data/states.ts';
import { useText } from '../text/index.ts';
import { Button, Group, LinkButton, Refusal, Section, Skeleton, VisuallyHidden } from '../ui/index.ts';
import { Line } from './console/Line.tsx';

/** A machine's console among its other pages; a server has a serial line alone. */
export function Console() {
  const { t } = useText();
  const { id } = useParams({ from: '/in/services/$id' });
  const { type = 'vnc' } = useSearch({ from: '/in/services/$id/console' });
  const { data: found } = useQuery(service(Number(id)));
  const own = `/console/${id}?type=${type}`;
  return (
    <Section
      title={t('tab.console')}
      aside={
        <Group gap="xs">
          {!found?.on_server &&
            consoleKinds.map((kind) => (
              <LinkButton
                key={kind}
                to="/services/$id/console"
                params={{ id }}
                search={{ type: kind }}
                size="xs"
                variant={kind === type ? 'filled' : 'default'}
                aria-current={kind === type ? 'true' : undefined}
              >
                {t(`console.${kind}`)}
              </LinkButton>
            ))}
          <Button
            size="xs"
            variant="default"
            onClick={() => window.open(own, `console-${id}-${type}`, 'popup,width=1040,height=860')}
          >
            {t('console.ownWindow')}
          </Button>
        </Group>
      }
    >
      <OfService key={`${id} ${type}`} id={Number(id)} type={type} />
    </Section>
  );
}

/** The same, with nothing around it. */
export function ConsoleWindow() {
  const { id } = useParams({ from: '/console/$id' });
  const { type = 'vnc' } = useSearch({ from: '/console/$id' });
  const { t } = useText();
  useEffect(() => {
    document.title = `${t('tab.console')} ${id}`;
  }, [t, id]);
  return (
    <main className="console-window">
      <VisuallyHidden>
        <h1>
          {t('tab.console')} {id}
        </h1>
      </VisuallyHidden>
      <OfService id={Number(id)} type={type} />
    </main>
  );
}

/** Which of both a service is decides where a ticket is asked for. */
function OfService({ id, type }: { id: number; type: ConsoleKind }) {
  const { data: found, error, refetch } = useQuery(service(id));
  if (found === undefined)
    return error ? <Refusal error={error} onRetry={() => void refetch()} /> : <Skeleton height={320} />;
  const path = { id };
  if (found.on_server)
    return (
      <Line
        type="serial"
        isServer
        ask={(signal) => client.get('/dashboard/service/{id}/dedicated/console', { path, signal })}
      />
    );
  return (
    <Line
      type={type}
      ask={(signal) => client.get('/dashboard/service/{id}/vps/console', { path, query: { type }, signal })}
    />
  );
}
