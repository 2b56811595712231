import { useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { client } from '../data/client.ts';
import { type ConsoleKind, consoleKinds } from '../data/states.ts';
import { useText } from '../text/index.ts';
import {
  Button,
  Dialog,
  Group,
  LinkButton,
  LongField,
  Refusal,
  Section,
  Stack,
  Text,
  VisuallyHidden,
} from '../ui/index.ts';
import type { Viewer } from './console/viewer.ts';

/** A machine's console among its other pages. */
export function Console() {
  const { t } = useText();
  const { id } = useParams({ from: '/in/services/$id' });
  const { type = 'vnc' } = useSearch({ from: '/in/services/$id/console' });
  const own = `/console/${id}?type=${type}`;
  return (
    <Section
      title={t('tab.console')}
      aside={
        <Group gap="xs">
          {consoleKinds.map((kind) => (
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
      <Line key={`${id} ${type}`} id={Number(id)} type={type} />
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
      <Line id={Number(id)} type={type} />
    </main>
  );
}

/** Each is a chunk with its own styles; the builder takes those of one import along, so they stand apart. */
const viewers = {
  vnc: () => import('./console/screen.ts'),
  serial: () => import('./console/serial.ts'),
} as const;

type Phase = { is: 'opening' | 'open' } | { is: 'closed'; code: number } | { is: 'failed'; error: unknown };

/** Why a console ended, as far as its code says. */
const endings: Readonly<Record<number, 'notAllowed' | 'notNow' | 'tooMany' | 'stopping'>> = {
  1001: 'stopping',
  1008: 'notAllowed',
  1011: 'notNow',
  1013: 'tooMany',
};

function Line({ id, type }: { id: number; type: ConsoleKind }) {
  const { t } = useText();
  const place = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const viewer = useRef<Viewer | null>(null);
  const [phase, setPhase] = useState<Phase>({ is: 'opening' });
  const [attempt, setAttempt] = useState(0);
  const [isTyping, setTyping] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another ticket
  useEffect(() => {
    const { current: box } = place;
    if (box === null) return;
    const end = new AbortController();
    setPhase({ is: 'opening' });
    const told = {
      onOpen: () => setPhase({ is: 'open' }),
      onClose: (code: number) => setPhase({ is: 'closed', code }),
    };
    const begin = async () => {
      // First what draws, since a ticket is good for half a minute.
      const { open } = await viewers[type]();
      const { wss_url: url } = await client.get('/dashboard/service/{id}/vps/console', {
        ...{ path: { id }, query: { type }, signal: end.signal },
      });
      if (end.signal.aborted) return;
      viewer.current = open(box, url, told);
      viewer.current.focus();
    };
    begin().catch((error: unknown) => {
      if (!end.signal.aborted) setPhase({ is: 'failed', error });
    });
    return () => {
      end.abort();
      viewer.current?.close();
      viewer.current = null;
      box.replaceChildren();
    };
  }, [id, type, attempt]);

  useEffect(() => {
    const { current: box } = place;
    // The console takes every key, Tab as well: there is one way out of it.
    const out = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      leave.current?.focus();
    };
    box?.addEventListener('keydown', out, true);
    return () => box?.removeEventListener('keydown', out, true);
  }, []);

  const again = () => setAttempt((before) => before + 1);
  const isOpen = phase.is === 'open';
  return (
    <Stack gap="xs" ref={frame} className="console">
      <Group gap="xs">
        <Text size="sm" role="status" fw={600}>
          {phase.is === 'opening' && t('console.opening')}
          {isOpen && t('console.open')}
          {phase.is === 'closed' && t(`console.${endings[phase.code] ?? 'lost'}`)}
        </Text>
        {(phase.is === 'closed' || phase.is === 'failed') && (
          <Button size="xs" onClick={again}>
            {t('console.again')}
          </Button>
        )}
        <Button
          ref={leave}
          size="xs"
          variant="default"
          onClick={() => {
            void frame.current?.requestFullscreen();
            viewer.current?.focus();
          }}
        >
          {t('console.fullScreen')}
        </Button>
        <Button size="xs" variant="default" disabled={!isOpen} onClick={() => setTyping(true)}>
          {t('console.paste')}
        </Button>
        {type === 'vnc' && (
          <Button
            size="xs"
            variant="default"
            disabled={!isOpen}
            onClick={() => viewer.current?.pressCtrlAltDel?.()}
          >
            {t('console.ctrlAltDel')}
          </Button>
        )}
      </Group>
      {phase.is === 'failed' && <Refusal title={t('console.cannot')} error={phase.error} onRetry={again} />}
      <div ref={place} className="console-place" data-phase={phase.is} />
      <Text size="sm" c="dimmed">
        {t('console.leave')}
      </Text>
      <Dialog title={t('console.paste')} isOpen={isTyping} onClose={() => setTyping(false)}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const text = new FormData(event.currentTarget).get('text');
            if (typeof text === 'string') viewer.current?.type(text);
            setTyping(false);
            viewer.current?.focus();
          }}
        >
          <Stack>
            <LongField name="text" label={t('console.text')} help={t('console.textHelp')} autoFocus />
            <Group>
              <Button type="submit">{t('console.type')}</Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </Stack>
  );
}
