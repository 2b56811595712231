import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMistake } from './Field.tsx';

interface AmountProps {
  name: string;
  label: string;
  help?: string;
  min: number;
  max: number;
  step: number;
  value: number;
  onChange: (value: number) => void;
}

/** How many of something: typed, or by a slider. What is out of bounds stays with the field, which says so. */
export function Amount({ name, label, help, min, max, step, value, onChange }: AmountProps) {
  const [text, setText] = useState(String(value));
  const mistake = useMistake(name);
  const take = (typed: string) => {
    setText(typed);
    const next = Number(typed);
    if (typed !== '' && next >= min && next <= max && (next - min) % step === 0) onChange(next);
  };
  const bounds = { min, max, step };
  return (
    <div className="amount">
      <TextInput
        name={name}
        type="number"
        inputMode="numeric"
        label={label}
        description={help}
        error={mistake}
        required
        withAsterisk={false}
        value={text}
        onChange={(event) => take(event.currentTarget.value)}
        {...bounds}
      />
      {max > min && (
        // The field beside it says and takes the same; once is enough for who listens or uses the keyboard.
        <input
          type="range"
          aria-hidden
          tabIndex={-1}
          value={value}
          onChange={(event) => take(event.currentTarget.value)}
          {...bounds}
        />
      )}
    </div>
  );
}
