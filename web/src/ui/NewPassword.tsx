import { Button, Group, PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { useText } from '../text/index.ts';
import { useMistake } from './Field.tsx';

/** Without signs that look alike: people copy it from one screen to another. */
const signs = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const length = 20;

function madeUp(): string {
  for (;;) {
    const drawn = [...crypto.getRandomValues(new Uint32Array(length))];
    const made = drawn.map((number) => signs[number % signs.length]).join('');
    if (/[a-z]/.test(made) && /[A-Z]/.test(made) && /\d/.test(made)) return made;
  }
}

interface NewPasswordProps {
  name: string;
  label: string;
  help?: string;
  required?: boolean;
}

/** A password for a machine: typed, or made up here and shown. */
export function NewPassword({ name, label, help, required = true }: NewPasswordProps) {
  const { t } = useText();
  const [value, setValue] = useState('');
  const [isShown, setShown] = useState(false);
  const mistake = useMistake(name);
  // What is made up is strong: what was wrong with the one before is no more.
  const [made, setMade] = useState<string | null>(null);
  return (
    <Group align="end" gap="sm">
      <PasswordInput
        name={name}
        label={label}
        description={help}
        error={value === made ? undefined : mistake}
        required={required}
        withAsterisk={false}
        autoComplete="new-password"
        flex={1}
        miw={200}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
        visible={isShown}
        onVisibilityChange={setShown}
      />
      <Button
        variant="default"
        onClick={() => {
          const another = madeUp();
          setMade(another);
          setValue(another);
          setShown(true);
        }}
      >
        {t('app.makeUp')}
      </Button>
    </Group>
  );
}
