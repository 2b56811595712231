import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useText } from '../text/index.ts';

interface ConfirmByNameProps {
  title: string;
  /** What is lost and what stays. */
  text: string;
  button: string;
  /** What has to be typed, so that nobody does it in passing. */
  name: string;
  /** False as long as it cannot be done, which `children` tell of. */
  isReady?: boolean;
  /** What is decided with it. */
  children?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
}

/** Asks before something that nobody can take back: for a press, and for the name of what it is about. */
export function ConfirmByName({ isOpen, onClose, title, ...question }: ConfirmByNameProps) {
  const { t } = useText();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      centered
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Question onClose={onClose} {...question} />
    </Modal>
  );
}

type QuestionProps = Omit<ConfirmByNameProps, 'title' | 'isOpen'>;

function Question({ text, button, name, isReady = true, children, onClose, onConfirm }: QuestionProps) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const isSame = typed.trim() === name.trim();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        if (isSame && isReady) onConfirm();
      }}
    >
      <Stack>
        <Text>{text}</Text>
        {children}
        <TextInput
          label={t('app.typeName', { name })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            {t('app.cancel')}
          </Button>
          <Button type="submit" color="red" disabled={!isSame || !isReady}>
            {button}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
