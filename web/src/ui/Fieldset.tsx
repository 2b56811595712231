import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMistake } from './Field.tsx';

interface FieldsetProps {
  legend: string;
  /** Of the part of the request that its fields make together; what is wrong with it is said here. */
  name?: string;
  children: ReactNode;
}

/** Fields that are about one thing. */
export function Fieldset({ legend, name, children }: FieldsetProps) {
  const mistake = useMistake(name ?? '');
  return (
    <fieldset className="fields" name={name}>
      <legend>{legend}</legend>
      <Stack gap="xs">{children}</Stack>
      {mistake !== undefined && <p role="alert">{mistake}</p>}
    </fieldset>
  );
}
