/** What stands in a form: fields whose mistakes land at them, and which know what the request says of them. */
import { Input, NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core';
import { createContext, type ReactNode, useContext, useId } from 'react';
import { fieldOf, type RequestField, type RequestFields } from '../data/fields.ts';
import { useText } from '../text/index.ts';

export const Mistakes = createContext<ReadonlyMap<string, ReactNode>>(new Map());

/** What is wrong with a field of the form around it: by its schema before it is sent, by the API afterwards. */
export function useMistake(name: string): ReactNode {
  const mistakes = useContext(Mistakes);
  // What is wrong with one of several, `nameservers[1]`, is said where all of them are typed.
  return mistakes.get(name) ?? [...mistakes].find(([field]) => field.startsWith(`${name}[`))?.[1];
}

export const Known = createContext<RequestFields | undefined>(undefined);

/** What the request of the form around it says of a field. */
export function useBounds(name: string): Partial<RequestField> {
  return fieldOf(useContext(Known), name) ?? {};
}

/** The help of a field: the page's own, or what the API says of it to those who read its language. */
function useHelp(name: string, own: string | undefined): string | undefined {
  const { language } = useText();
  const { help } = useBounds(name);
  return own ?? (language === 'en' ? help : undefined);
}

interface FieldProps {
  name: string;
  label: string;
  help?: string;
  required?: boolean;
  autoComplete?: string;
  type?: 'text' | 'email' | 'password' | 'date' | 'datetime-local';
  inputMode?: 'numeric' | 'decimal' | 'text';
  defaultValue?: string;
  autoFocus?: boolean;
  /** Told of what is typed. */
  onType?: (text: string) => void;
}

export function Field({ help: own, type = 'text', onType, ...props }: FieldProps) {
  const error = useMistake(props.name);
  const help = useHelp(props.name, own);
  const { isNumber, isRequired = true } = useBounds(props.name);
  const { required = isRequired, inputMode = isNumber && (isNumber === 'integer' ? 'numeric' : 'decimal') } =
    props;
  const onChange =
    onType && ((event: { currentTarget: { value: string } }) => onType(event.currentTarget.value));
  const shared = { ...props, required, inputMode, description: help, error, withAsterisk: false, onChange };
  return type === 'password' ? <PasswordInput {...shared} /> : <TextInput {...shared} type={type} />;
}

interface LongFieldProps extends Omit<FieldProps, 'type'> {
  /** How many lines it has at least. */
  rows?: number;
}

export function LongField({ help, rows = 5, onType, ...props }: LongFieldProps) {
  const error = useMistake(props.name);
  const { isRequired = true } = useBounds(props.name);
  return (
    <Textarea
      {...props}
      onChange={onType && ((event) => onType(event.currentTarget.value))}
      required={props.required ?? isRequired}
      withAsterisk={false}
      description={useHelp(props.name, help)}
      error={error}
      autosize
      minRows={rows}
      maxRows={20}
    />
  );
}

interface ChoiceProps extends Omit<FieldProps, 'type' | 'inputMode' | 'onType'> {
  choices: readonly { value: string; label: string }[];
  /** Told of what is chosen. */
  onChoose?: (value: string) => void;
}

/** Any number of files; the platform's own way to choose them. */
export function FileField({ name, label, help }: { name: string; label: string; help?: string }) {
  const id = useId();
  const error = useMistake(name);
  return (
    <Input.Wrapper id={id} label={label} description={help} error={error}>
      <input type="file" id={id} name={name} multiple className="files" />
    </Input.Wrapper>
  );
}

/** The platform's own choice: what people know from their phone. */
export function Choice({ help, choices, onChoose, ...props }: ChoiceProps) {
  const error = useMistake(props.name);
  const { isRequired = true } = useBounds(props.name);
  return (
    <NativeSelect
      {...props}
      required={props.required ?? isRequired}
      withAsterisk={false}
      description={useHelp(props.name, help)}
      error={error}
      onChange={onChoose && ((event) => onChoose(event.currentTarget.value))}
      data={[...choices]}
    />
  );
}
