import { Badge } from '@mantine/core';
import type en from '../text/en.json';
import { useText } from '../text/index.ts';

export type StateName = keyof (typeof en)['status'];

const colors: Partial<Record<StateName, string>> = {
  ...{
    active: 'brand',
    running: 'brand',
    paid: 'brand',
    success: 'brand',
    ready: 'brand',
    answered: 'brand',
  },
  ...{ suspended: 'red', error: 'red', overdue: 'red', unpaid: 'orange', pending: 'orange', open: 'orange' },
};

/** A state in words; the colour only says it once more. */
export function State({ of: name }: { of: StateName }) {
  const { t } = useText();
  return (
    <Badge variant="light" color={colors[name] ?? 'gray'} tt="none" size="lg" radius="sm" fw={600}>
      {t(`status.${name}`)}
    </Badge>
  );
}
