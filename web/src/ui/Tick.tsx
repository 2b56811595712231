import { Checkbox } from '@mantine/core';

interface TickProps {
  name: string;
  label: string;
  help?: string;
  /** What the form says when it is ticked. */
  value?: string;
  defaultChecked?: boolean;
}

/** Yes or no, in a form. */
export function Tick({ help, ...props }: TickProps) {
  return <Checkbox {...props} description={help} />;
}
