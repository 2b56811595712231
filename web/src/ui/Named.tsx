import type { ComponentProps } from 'react';
import { useBrand } from '../data/brand.ts';
import { useText } from '../text/index.ts';
import { Choice, Field, LongField, useBounds } from './Field.tsx';
import { type FieldName, useWord } from './Value.tsx';

interface NamedProps {
  name: FieldName;
  help?: string;
  isOptional?: boolean;
  value?: string | number | null | undefined;
  type?: ComponentProps<typeof Field>['type'];
  /** What it is sent as, where a form has several of the same. */
  as?: string;
  number?: number;
}

/** A field that is called as the API calls it. */
export function Named({ name, isOptional = false, value, as = name, number, ...props }: NamedProps) {
  const { t } = useText();
  const called = number === undefined ? t(`field.${name}`) : `${t(`field.${name}`)} ${number}`;
  const label = isOptional ? t('staff.optional', { name: called }) : called;
  return (
    <Field
      {...{ ...props, name: as, label, required: !isOptional }}
      defaultValue={value === null ? undefined : value?.toString()}
      autoComplete="off"
    />
  );
}

/** A currency: the provider's own, until another one is typed. */
export function OwnCurrency() {
  return <Named name="currency" value={useBrand().currency} />;
}

/** The same for what takes more than a line. */
export function NamedLong({ name, isOptional = false, value, help, as = name }: NamedProps) {
  const { t } = useText();
  const label = isOptional ? t('staff.optional', { name: t(`field.${name}`) }) : t(`field.${name}`);
  return <LongField {...{ name: as, label, help, required: !isOptional }} defaultValue={value?.toString()} />;
}

interface NamedChoiceProps extends NamedProps {
  /** Absent: what the request says. */
  of?: readonly (string | { value: string; label: string })[];
  onChoose?: (value: string) => void;
}

/** The same for a choice between words of the API. */
export function NamedChoice({
  name,
  as = name,
  of: own,
  isOptional = false,
  value,
  help,
  onChoose,
}: NamedChoiceProps) {
  const { t } = useText();
  const word = useWord();
  const { choices: said = [] } = useBounds(as);
  const choices = (own ?? said).map((each) =>
    typeof each === 'string' ? { value: each, label: word(each) } : each,
  );
  return (
    <Choice
      {...{ name: as, help, label: t(`field.${name}`), required: !isOptional, onChoose }}
      choices={isOptional ? [{ value: '', label: '–' }, ...choices] : choices}
      defaultValue={value?.toString()}
    />
  );
}
