import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Something that is done beside the page, which stays as it is. */
export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} centered>
      {children}
    </Modal>
  );
}
