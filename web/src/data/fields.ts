import type { RequestField, RequestFields } from '../../../src/platform/http/requestField.ts';

export type { RequestField, RequestFields };

/** Of one of several, `pages[2].url`, what the request says of all of them. */
export function fieldOf(fields: RequestFields | undefined, name: string): RequestField | undefined {
  return fields?.[name.replaceAll(/\[\d+\]/g, '[]')];
}

/** Of what the request lets choose, in words. */
export function choicesOf<Value extends string>(
  { choices }: { choices: readonly Value[] },
  label: (value: Value) => string,
): { value: Value; label: string }[] {
  return choices.map((value) => ({ value, label: label(value) }));
}

/**
 * What the API would say of a text that was typed, in its own words; null when it has nothing against it. Blanks around it
 * count only where nothing is left to choose: some forms take them away. Bounds count signs as the API does, which is not
 * how browsers count, so that no field stops anybody from typing.
 */
export function mistakeIn(text: string, field: RequestField): string | null {
  const mistake = mistakeInExactly(text, field);
  return mistake === null || mistakeInExactly(text.trim(), field) === null ? null : mistake;
}

function mistakeInExactly(text: string, { isNumber, ...field }: RequestField): string | null {
  if (isNumber !== undefined) return mistakeInNumber(text, isNumber, field);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, message } = field;
  const { length } = [...text];
  if (length < minLength)
    return minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`;
  if (length > maxLength) return `must have at most ${maxLength} characters`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text))
    return message ?? 'has a form or characters that are not allowed here';
  return null;
}

type Bounds = Pick<RequestField, 'minimum' | 'maximum'>;

function mistakeInNumber(text: string, kind: 'integer' | 'number', { minimum, maximum }: Bounds) {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (kind === 'integer' ? !Number.isInteger(number) : !Number.isFinite(number))
    return kind === 'integer' ? 'must be an integer' : 'must be a number';
  if (minimum !== undefined && number < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && number > maximum) return `must be at most ${maximum}`;
  return null;
}
