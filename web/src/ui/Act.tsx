import { Button, type ButtonProps, Modal, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ErrorCode, OperationName } from '../../../client/index.ts';
import { useMay } from '../data/may.ts';
import { useText } from '../text/index.ts';
import { type Files, Form, type Values } from './Form.tsx';
import { Reason, Refusal } from './Refusal.tsx';

interface ActProps {
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
  onAct: (values: Values, files: Files, ifMatch: string | undefined) => Promise<unknown>;
  /** The tag of what the form changes; see `Form`. */
  tagOf?: () => Promise<string | undefined>;
  /** Fields of the form. */
  children?: ReactNode;
}

const free = { allowed: true, reason: null, code: null };

/** Something that staff does: a button, and the form that it asks for. What staff has read is read anew afterwards. */
export function Act({ operation, label, text, name, isDangerous, isFirst, size, ...rest }: ActProps) {
  const { action = free, onAct, tagOf, children } = rest;
  const { t } = useText();
  const may = useMay();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const act = async (values: Values, files: Files, ifMatch?: string) => {
    await onAct(values, files, ifMatch);
    setOpen(false);
    await queries.invalidateQueries({ queryKey: ['staff'] });
  };
  const press = useMutation({ mutationFn: () => act({}, {}) });
  const asks = text !== undefined || children !== undefined || name !== undefined;
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
      <Button {...look} loading={press.isPending} onClick={() => (asks ? setOpen(true) : press.mutate())}>
        {label}
      </Button>
      {!asks && <Refusal error={press.error} />}
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={label}
        centered
        closeButtonProps={{ 'aria-label': t('app.cancel') }}
      >
        <Stack gap="md">
          {text !== undefined && <Text style={{ overflowWrap: 'anywhere' }}>{text}</Text>}
          <Form submit={label} onSubmit={act} tagOf={tagOf}>
            {children}
            {name !== undefined && (
              <TextInput
                label={t('staff.typeName', { name })}
                pattern={name.replaceAll(
                  /[^\p{L}\p{N} ]/gu,
                  (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`,
                )}
                title={name}
                autoComplete="off"
                required
                withAsterisk={false}
              />
            )}
          </Form>
        </Stack>
      </Modal>
    </>
  );
}
