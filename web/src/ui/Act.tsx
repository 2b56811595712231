import { Button, type ButtonProps, Modal, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ErrorCode, OperationName } from '../../../client/index.ts';
import { type Shown, showAhead } from '../data/ahead.ts';
import type { Drawn, Reading } from '../data/drawn.ts';
import type { RequestFields } from '../data/fields.ts';
import { useMay } from '../data/may.ts';
import { useRefused } from '../data/refused.ts';
import { useText } from '../text/index.ts';
import { Form } from './Form.tsx';
import { Reason, Refusal } from './Refusal.tsx';
import { Refusals } from './Refusals.tsx';
import type { Files, Values } from './typed.ts';

interface ActProps<Of> {
  /** What staff has to be allowed; a button that is not says so. */
  operation: OperationName;
  label: string;
  /** What happens, what is lost and what stays. With it or with fields the button asks first. */
  text?: string;
  /** To be typed before it is done, for what cannot be undone. */
  name?: string;
  isDangerous?: boolean;
  isFirst?: boolean;
  size?: ButtonProps['size'];
  /** Other reasons that forbid it, as the API says them. */
  action?: { allowed: boolean; reason: string | null; code?: ErrorCode | null };
  onAct: (values: Values, files: Files, ifMatch: string | undefined, now: Of) => Promise<unknown>;
  /** How what staff has read will be, where that is harmless to show before the answer has come. */
  // biome-ignore lint/suspicious/noExplicitAny: its key and its change are of one query, whatever that holds
  ahead?: Shown<any>;
  /** What the request says of the form's fields; see `Form`. */
  fields?: RequestFields;
  /** What the form is drawn of; see `Form`. */
  of?: Reading<Of>;
  /** Fields of the form. */
  children?: ReactNode | ((now: Of) => ReactNode);
}

const free = { allowed: true, reason: null, code: null };

/** Something that staff does: a button, and the form that it asks for. What staff has read is read anew afterwards. */
export function Act<Of>({ operation, label, text, name, ...rest }: ActProps<Of>) {
  const { isDangerous, isFirst, size, action = free, onAct, ahead, of, fields, children } = rest;
  const { t } = useText();
  const may = useMay();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [drawn, setDrawn] = useState<Drawn<Of>>();
  const [named, setNamed] = useState('');
  const isNamed = name === undefined || named.trim() === name.trim();
  const { refused, begin } = useRefused();
  const done = () => queries.invalidateQueries({ queryKey: ['staff'] });
  // What is shown ahead is shown: the dialog is gone, and a refusal is said beside the button.
  const carryOut = useMutation({
    mutationFn: async ([shown, typed]: [Shown<unknown>, Parameters<typeof onAct>]) => {
      const say = begin();
      const takeBack = await showAhead(queries, shown);
      try {
        await onAct(...typed);
      } catch (error) {
        takeBack();
        say(error);
        throw error;
      }
    },
    onSettled: () => void done(),
  });
  const act = async (...typed: Parameters<typeof onAct>) => {
    if (ahead === undefined) await onAct(...typed);
    else carryOut.mutate([ahead, typed]);
    setOpen(false);
    if (ahead === undefined) await done();
  };
  const asks = text !== undefined || children !== undefined || name !== undefined;
  const press = useMutation({
    mutationFn: async () => {
      // What is in the way of opening it is said beside the button, not in an empty dialog.
      if (!asks) return act({}, {}, undefined, undefined as Of);
      setDrawn(await of?.read());
      setOpen(true);
    },
  });
  // At once where it can be: a button that waits loses the focus, which the dialog gives back to it.
  const open = () => (asks && of === undefined ? setOpen(true) : press.mutate());
  const color = isDangerous ? 'red' : undefined;
  const look = { size: size ?? 'xs', color, variant: isFirst ? 'filled' : isDangerous ? 'light' : 'default' };
  const isAllowed = may(operation);
  if (!isAllowed || !action.allowed)
    return (
      <Tooltip
        label={isAllowed ? <Reason {...action} /> : t('staff.notAllowed')}
        multiline
        maw={320}
        events={{ hover: true, focus: true, touch: true }}
      >
        <Button {...look} data-disabled aria-disabled onClick={(event) => event.preventDefault()}>
          {label}
        </Button>
      </Tooltip>
    );
  return (
    <>
      <Button {...look} loading={!asks && (press.isPending || carryOut.isPending)} onClick={open}>
        {label}
      </Button>
      <Refusal error={press.error} />
      <Refusals of={refused} />
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        onExitTransitionEnd={() => setNamed('')}
        title={label}
        centered
        closeButtonProps={{ 'aria-label': t('app.cancel') }}
      >
        <Stack gap="md">
          {text !== undefined && <Text style={{ overflowWrap: 'anywhere' }}>{text}</Text>}
          <Form
            submit={label}
            onSubmit={act}
            asCode={onAct}
            of={of}
            drawn={drawn}
            fields={fields}
            isReady={isNamed}
          >
            {(now) => (
              <>
                {typeof children === 'function' ? children(now) : children}
                {name !== undefined && (
                  <TextInput
                    label={t('staff.typeName', { name })}
                    value={named}
                    onChange={({ currentTarget: { value } }) => setNamed(value)}
                    autoComplete="off"
                  />
                )}
              </>
            )}
          </Form>
        </Stack>
      </Modal>
    </>
  );
}
