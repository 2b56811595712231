import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, Fragment, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { ApiError } from '../../../client/index.ts';
import { type Drawn, isSame, type Reading } from '../data/drawn.ts';
import type { RequestFields } from '../data/fields.ts';
import { useText } from '../text/index.ts';
import { AsCode } from './AsCode.tsx';
import { Known, Mistakes } from './Field.tsx';
import { Detail, Refusal } from './Refusal.tsx';
import { ShowsCode } from './ShowsCode.tsx';
import { type Files, filesRead, mistakesTyped, nameOf, typedIn, type Values } from './typed.ts';
import { useDraft } from './useDraft.ts';

interface FormProps<Of> {
  submit: string;
  /** What the request says of its fields, from `client/generated/fields/`. */
  fields?: RequestFields;
  /**
   * `ifMatch` is the tag of what the form is drawn of, for the change: with it nobody's change that came while somebody
   * typed is overwritten unseen. It answers what it made, as `of` reads it, where the form stays and goes on from that.
   */
  onSubmit: (values: Values, files: Files, ifMatch: string | undefined, now: Of) => Promise<unknown>;
  /** The bare call, where `onSubmit` is more or returns before it has sent it: what is shown as code is only what it awaits. */
  asCode?: FormProps<Of>['onSubmit'] | undefined;
  /** What the form is drawn of, which its fields take as `now`. */
  of?: Reading<Of>;
  /** That, where whoever opens the form has read it. */
  drawn?: Drawn<Of> | undefined;
  children: ReactNode | ((now: Of) => ReactNode);
  /** Beside the button that submits. */
  beside?: ReactNode;
  /** False as long as there is nothing to send, or it was not confirmed. */
  isReady?: boolean;
  /** By what name its draft is kept for when the page is loaded anew; without one nothing that was typed is kept. */
  draft?: string;
}

/**
 * A form whose mistakes land at their fields, as the API names them. What was typed stays whatever the answer is.
 * After a success it is up to the caller to show something else.
 */
export function Form<Of>(form: FormProps<Of>) {
  const { of } = form;
  const [drawn, setDrawn] = useState(form.drawn);
  const read = useMutation({ mutationFn: async () => of && setDrawn(await of.read()) });
  // biome-ignore lint/correctness/useExhaustiveDependencies: it stays what was drawn at first
  useEffect(() => {
    if (of !== undefined && drawn === undefined) read.mutate();
  }, []);
  if (of === undefined) return <OpenForm {...form} drawn={undefined} />;
  if (drawn !== undefined) return <OpenForm {...form} drawn={drawn} />;
  if (read.error !== null) return <Refusal error={read.error} onRetry={() => read.mutate()} />;
  return <Skeleton height={240} />;
}

function OpenForm<Of>({ submit, onSubmit, children, beside, isReady = true, ...props }: FormProps<Of>) {
  const { of, fields, draft: draftName, asCode = onSubmit } = props;
  const { t } = useText();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const draft = useDraft(form, draftName);
  // It stays when what there is changes: what is sent says of what it is a change.
  const drawn = useRef(props.drawn);
  const [round, setRound] = useState(0);
  const draw = (found: Drawn<Of>) => {
    drawn.current = found;
    const keepPlace = placeIn(form.current);
    // At once: what somebody types before it is drawn would go with the field that it is typed into.
    flushSync(() => setRound((before) => before + 1));
    keepPlace();
  };
  const drawAnew = async () => {
    if (of !== undefined) draw(await of.read());
    await queries.invalidateQueries();
  };
  /** Somebody else was quicker, unless it was with something that this form does not show. */
  const hasChanged = async () => {
    const found = await of?.read();
    if (found === undefined || !isSame(found.now, drawn.current?.now)) return true;
    drawn.current = found;
    return false;
  };
  // Without `of` there is nothing that it could be drawn of, and nobody asks.
  const now = () => drawn.current?.now as Of;
  const submitted = (values: Values, files: Files) => onSubmit(values, files, drawn.current?.tag, now());
  const act = useMutation({
    mutationFn: async ([values, chosen]: ReturnType<typeof typedIn>) => {
      const files = await filesRead(chosen);
      // Whoever sends it may draw a new form before they are told that it came: what was sent is nothing for that one.
      const keepAgain = draft.take();
      try {
        return await submitted(values, files).catch(async (error: unknown) => {
          if (!isRefusedBy(error, 412) || (await hasChanged())) throw error;
          return submitted(values, files);
        });
      } catch (error) {
        keepAgain();
        throw error;
      }
    },
    onSuccess: async (made, [values]) => {
      // A form that stays goes on from what there is now; a dialog is about to close.
      if (of === undefined || form.current === null || form.current.closest('[role=dialog]') !== null) return;
      // It was made, whether or not that can be looked at now: then its tag is not known, and the next change, refused for the
      // old one, holds what is there against what was made.
      const found = await of.read().catch(() => null);
      if (found === null) {
        if (made !== undefined) drawn.current = { now: made as Of, tag: drawn.current?.tag };
        return;
      }
      // Somebody was at it between the change and this look: the form shows nothing of that, so the next change has to be refused.
      if (!isSame(found.now, made) || form.current === null) return;
      // What somebody has typed since is not taken from them.
      if (isSame(typedIn(form.current)[0], values)) draw(found);
      else drawn.current = found;
    },
  });
  // What is wrong with what was typed before it was sent. The API has the last word.
  const [own, setOwn] = useState<ReturnType<typeof mistakesOf>>(new Map());
  const mistakes = own.size > 0 ? own : mistakesOf(act.error);
  const showsCode = useContext(ShowsCode);
  // What names no field of this form, as the header of the organization, is said below all of them.
  const isAtFields =
    mistakes.size > 0 &&
    [...mistakes.keys()].every((field) => {
      const controls = form.current?.elements;
      return controls?.namedItem(field) ?? controls?.namedItem(nameOf(field));
    });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // A form in a dialog stands inside the one that opened it, as far as events go.
    event.stopPropagation();
    if (act.isPending || !isReady) return;
    const found = mistakesTyped(event.currentTarget, fields);
    setOwn(new Map(found.map(([{ name }, message]) => [name, <Detail key={name} message={message} />])));
    found[0]?.[0].focus();
    if (found.length === 0) act.mutate(typedIn(event.currentTarget));
    else act.reset();
  };
  return (
    // The browser's own words would be in its language, and gone after a moment.
    <form ref={form} className="form" onSubmit={send} noValidate>
      <Known value={fields}>
        <Mistakes value={mistakes}>
          <Stack gap="md">
            <Fragment key={round}>{typeof children === 'function' ? children(now()) : children}</Fragment>
            {!isAtFields && <Refusal error={act.error} />}
            {isRefusedBy(act.error, 412) && (
              <Button variant="default" onClick={() => void drawAnew().then(() => act.reset())}>
                {t('app.showNow')}
              </Button>
            )}
            {isRefusedBy(act.error, 409) && (
              // Something else than what was typed is in the way, and may stand on the page behind it.
              <Button variant="default" onClick={() => void queries.invalidateQueries()}>
                {t('app.lookAgain')}
              </Button>
            )}
            <Group gap="xs">
              <Button type="submit" loading={act.isPending} disabled={!isReady}>
                {submit}
              </Button>
              {showsCode && (
                <AsCode
                  prepare={async () => {
                    const [values, chosen] = form.current === null ? [{}, {}] : typedIn(form.current);
                    return [values, await filesRead(chosen)] as const;
                  }}
                  act={([values, files]) => asCode(values, files, undefined, now())}
                />
              )}
            </Group>
            {beside}
          </Stack>
        </Mistakes>
      </Known>
    </form>
  );
}

/** Where somebody is in a form; what is returned takes them there again, in the field of that name that is drawn by then. */
function placeIn(form: HTMLFormElement | null): () => void {
  const { activeElement: at } = document;
  const nth = form === null || at === null ? -1 : [...form.elements].indexOf(at);
  const isText = at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement;
  const selected = isText ? ([at.selectionStart, at.selectionEnd] as const) : null;
  return () => {
    const now = form?.elements[nth];
    if (!(now instanceof HTMLElement) || now === document.activeElement) return;
    if (now.getAttribute('name') !== at?.getAttribute('name')) return;
    now.focus({ preventScroll: true });
    // Numbers and dates have no place that could be told.
    if (selected !== null && selected[0] !== null && 'setSelectionRange' in now)
      (now as HTMLInputElement).setSelectionRange(...selected);
  };
}

function isRefusedBy(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

function mistakesOf(error: unknown): ReadonlyMap<string, ReactNode> {
  if (!(error instanceof ApiError)) return new Map();
  return new Map(
    error.details.map(({ field, message }) => [field, <Detail key={field} message={message} />]),
  );
}
