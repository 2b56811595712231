import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Something that is done above the page, which waits below it as it is. */
export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  const { t } = useText();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      centered
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      {children}
    </Modal>
  );
}
