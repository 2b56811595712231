import { Button, Group, Input, NativeSelect, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core';
import { notifyManager, useMutation, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type FormEvent,
  Fragment,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { ApiError } from '../../../client/index.ts';
import { useText } from '../text/index.ts';
import { AsCode, ShowsCode } from './AsCode.tsx';
import { Detail, Refusal } from './Refusal.tsx';
import { useDraft } from './useDraft.ts';

/** What the fields hold, by their names; an empty one is left out. */
export type Values = Readonly<Record<string, string>>;

/** Files that were chosen, by the names of their fields. */
export type Files = Readonly<Record<string, readonly File[]>>;

const Mistakes = createContext<ReadonlyMap<string, ReactNode>>(new Map());

/** What the API says is wrong with a field of the form around it. */
export function useMistake(name: string): ReactNode {
  const mistakes = useContext(Mistakes);
  // What is wrong with one of several, `nameservers[1]`, is said where all of them are typed.
  return mistakes.get(name) ?? [...mistakes].find(([field]) => field.startsWith(`${name}[`))?.[1];
}

interface FormProps {
  submit: string;
  onSubmit: (values: Values, files: Files, ifMatch: string | undefined) => Promise<unknown>;
  /**
   * Reads the tag of what the form is drawn of, for `ifMatch` of the change: with it nobody's change that came while
   * somebody typed is overwritten unseen.
   */
  tagOf?: () => Promise<string | undefined>;
  children: ReactNode;
  /** Beside the button that submits. */
  beside?: ReactNode;
  /** False as long as there is nothing to send, or it was not confirmed. */
  isReady?: boolean;
  /** By what name its draft is kept for when the page is loaded anew; without one nothing that was typed is kept. */
  draft?: string;
  /** Draws the form of what there is now: offered when somebody else has changed it since it was drawn. */
  onDrawAnew?: () => Promise<unknown>;
}

/**
 * A form whose mistakes land at their fields, as the API names them. What was typed stays whatever the answer is.
 * After a success it is up to the caller to show something else.
 */
export function Form({
  submit,
  onSubmit,
  children,
  beside,
  isReady = true,
  draft: draftName,
  onDrawAnew,
  tagOf,
}: FormProps) {
  const { t } = useText();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const draft = useDraft(form, draftName);
  const tag = useTag(tagOf);
  const [round, setRound] = useState(0);
  const drawAnew = async (isStill = () => true) => {
    // First the tag: what is read after it may only be newer, and then the change is refused once more.
    await tag.read();
    await queries.invalidateQueries();
    // After whoever draws the form was told of what was read, or its fields would be drawn of what was there before.
    notifyManager.schedule(() => {
      if (isStill()) setRound((before) => before + 1);
    });
  };
  const act = useMutation({
    mutationFn: async ([values, files]: [Values, Files]) => {
      const ifMatch = await tag.known();
      // Whoever sends it may draw a new form before they are told that it came: what was sent is nothing for that one.
      const keepAgain = draft.take();
      return onSubmit(values, files, ifMatch).catch((error: unknown) => {
        keepAgain();
        throw error;
      });
    },
    onSuccess: async (_answer, [values]) => {
      // A form that stays goes on from what there is now; a dialog is about to close.
      const stays = form.current !== null && form.current.closest('[role=dialog]') === null;
      // What somebody has typed since is not taken from them.
      const isAsSent = () =>
        form.current !== null && JSON.stringify(typedIn(form.current)[0]) === JSON.stringify(values);
      if (tagOf !== undefined && stays) await drawAnew(isAsSent);
    },
  });
  const mistakes = mistakesOf(act.error);
  const showsCode = useContext(ShowsCode);
  // What names no field of this form, as the header of the organization, is said below all of them.
  const isAtFields =
    mistakes.size > 0 &&
    [...mistakes.keys()].every((field) => {
      const fields = form.current?.elements;
      return fields?.namedItem(field) ?? fields?.namedItem(nameOf(field));
    });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // A form in a dialog stands inside the one that opened it, as far as events go.
    event.stopPropagation();
    if (!act.isPending && isReady) act.mutate(typedIn(event.currentTarget));
  };
  return (
    <form ref={form} className="form" onSubmit={send}>
      <Mistakes value={mistakes}>
        <Stack gap="md">
          <Fragment key={round}>{children}</Fragment>
          {!isAtFields && <Refusal error={act.error} />}
          {isRefusedBy(act.error, 412) && (
            <Button
              variant="default"
              onClick={() => void (onDrawAnew ?? (() => drawAnew()))().then(() => act.reset())}
            >
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
                act={async () => {
                  if (form.current !== null) await onSubmit(...typedIn(form.current), undefined);
                }}
              />
            )}
          </Group>
          {beside}
        </Stack>
      </Mistakes>
    </form>
  );
}

function isRefusedBy(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

/** The tag of what a form is drawn of, read with it; where that came to nothing, once it is sent. */
function useTag(tagOf: FormProps['tagOf']) {
  const tag = useRef<Promise<string | undefined>>(undefined);
  const read = () => {
    tag.current = tagOf?.();
    return tag.current?.catch(() => undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the tag of what was drawn at first
  useEffect(() => {
    void read();
  }, []);
  const known = async () => tag.current?.catch(() => tagOf?.());
  return { read, known };
}

/** What stands in a form now. */
export function typedIn(form: HTMLFormElement): [Values, Files] {
  const values: Record<string, string> = {};
  const files: Record<string, File[]> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string') {
      if (value !== '') values[name] = value;
    } else if (value.name !== '') files[name] = [...(files[name] ?? []), value];
  }
  return [values, files];
}

/** `attachments[0].name` is of the field `attachments`. */
function nameOf(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? field;
}

function mistakesOf(error: unknown): ReadonlyMap<string, ReactNode> {
  if (!(error instanceof ApiError)) return new Map();
  return new Map(
    error.details.map(({ field, message }) => [field, <Detail key={field} message={message} />]),
  );
}

interface FieldProps {
  name: string;
  label: string;
  help?: string;
  required?: boolean;
  autoComplete?: string;
  type?: 'text' | 'email' | 'password' | 'date';
  inputMode?: 'numeric' | 'text';
  defaultValue?: string;
  minLength?: number;
  maxLength?: number;
  autoFocus?: boolean;
  /** Told of what is typed. */
  onType?: (text: string) => void;
}

export function Field({ help, type = 'text', required = true, onType, ...props }: FieldProps) {
  const error = useMistake(props.name);
  const onChange =
    onType && ((event: { currentTarget: { value: string } }) => onType(event.currentTarget.value));
  const shared = { ...props, required, description: help, error, withAsterisk: false, onChange };
  return type === 'password' ? <PasswordInput {...shared} /> : <TextInput {...shared} type={type} />;
}

interface LongFieldProps extends Omit<FieldProps, 'type'> {
  /** How many lines it has at least. */
  rows?: number;
}

export function LongField({ help, required = true, rows = 5, onType, ...props }: LongFieldProps) {
  const error = useMistake(props.name);
  return (
    <Textarea
      {...props}
      onChange={onType && ((event) => onType(event.currentTarget.value))}
      required={required}
      withAsterisk={false}
      description={help}
      error={error}
      autosize
      minRows={rows}
      maxRows={20}
    />
  );
}

interface ChoiceProps extends Omit<FieldProps, 'type' | 'minLength' | 'maxLength' | 'inputMode' | 'onType'> {
  choices: readonly { value: string; label: string }[];
  /** Told of what is chosen. */
  onChoose?: (value: string) => void;
}

/** Any number of files; the platform's own way to choose them. */
export function FileField({ name, label, help }: { name: string; label: string; help?: string }) {
  const id = useId();
  const error = useMistake(name);
  return (
    <Input.Wrapper id={id} label={label} description={help} error={error}>
      <input type="file" id={id} name={name} multiple className="files" />
    </Input.Wrapper>
  );
}

/** The platform's own choice: what people know from their phone. */
export function Choice({ help, required = true, choices, onChoose, ...props }: ChoiceProps) {
  const error = useMistake(props.name);
  return (
    <NativeSelect
      {...props}
      required={required}
      withAsterisk={false}
      description={help}
      error={error}
      onChange={onChoose && ((event) => onChoose(event.currentTarget.value))}
      data={[...choices]}
    />
  );
}
