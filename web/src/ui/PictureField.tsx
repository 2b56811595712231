import { Checkbox, Input } from '@mantine/core';
import { useId } from 'react';
import { useMistake } from './Field.tsx';

interface PictureFieldProps {
  name: string;
  label: string;
  help?: string;
  /** Where the one that stands now is; null when there is none. */
  now: string | null;
  /** What takes it away, as the field `{name}.remove`. */
  remove: string;
  /** Told of what was chosen, as an address that a page may show. */
  onChoose: (picture: string) => void;
}

/** One picture that browsers show. */
export function PictureField({ name, label, help, now, remove, onChoose }: PictureFieldProps) {
  const id = useId();
  const error = useMistake(name);
  return (
    <Input.Wrapper id={id} label={label} description={help} error={error}>
      {now !== null && (
        <img className="logo" src={now} alt="" style={{ marginInline: 0, marginBlock: '0.5rem' }} />
      )}
      <input
        type="file"
        id={id}
        name={name}
        accept="image/png,image/webp"
        className="files"
        onChange={({ currentTarget: { files } }) => {
          const [file] = files ?? [];
          if (file === undefined) return;
          const reader = new FileReader();
          reader.onload = () => onChoose(String(reader.result));
          reader.readAsDataURL(file);
        }}
      />
      {now !== null && <Checkbox mt="xs" size="sm" name={`${name}.remove`} label={remove} />}
    </Input.Wrapper>
  );
}
