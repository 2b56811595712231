import { Checkbox } from '@mantine/core';
import { useMistake } from './Field.tsx';

interface TickProps {
  name: string;
  label: string;
  help?: string;
  defaultChecked?: boolean;
  /** For whoever has to know meanwhile; without it the form alone knows. */
  isOn?: boolean;
  onChange?: (isOn: boolean) => void;
}

/** Yes or no, in a form. */
export function Tick({ help, isOn, onChange, ...props }: TickProps) {
  return (
    <Checkbox
      {...props}
      description={help}
      error={useMistake(props.name)}
      checked={isOn}
      onChange={onChange && (({ currentTarget: { checked } }) => onChange(checked))}
    />
  );
}
