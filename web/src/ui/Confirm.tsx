import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useText } from '../text/index.ts';

interface ConfirmProps {
  title: string;
  /** What is lost and what stays. */
  text: string;
  button: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
}

/** Asks before something that is not undone by another press. */
export function Confirm({ title, text, button, isOpen, onClose, onConfirm }: ConfirmProps) {
  const { t } = useText();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      centered
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack>
        <Text>{text}</Text>
        <Group justify="end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('app.cancel')}
          </Button>
          <Button color="red" onClick={onConfirm}>
            {button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
