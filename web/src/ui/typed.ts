/** What stands in a form, and what of it cannot be sent. */
import { fieldOf, mistakeIn, type RequestField, type RequestFields } from '../data/fields.ts';

/** What the fields hold, by their names; an empty one is left out. */
export type Values = Readonly<Record<string, string>>;

/** A file that was chosen, with what is in it as the API takes it. */
export interface Chosen {
  file: File;
  content_base64: string;
}

/** Files that were chosen, by the names of their fields. */
export type Files = Readonly<Record<string, readonly Chosen[]>>;
type Unread = Readonly<Record<string, readonly File[]>>;

/** What stands in a form now. */
export function typedIn(form: HTMLFormElement): [Values, Unread] {
  const values: Record<string, string> = {};
  const files: Record<string, File[]> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string') {
      if (value !== '') values[name] = value;
    } else if (value.name !== '') files[name] = [...(files[name] ?? []), value];
  }
  return [values, files];
}

/** What is in them, read before anything is sent: whoever sends it asks at once. */
export async function filesRead(chosen: Unread): Promise<Files> {
  const read = async (file: File): Promise<Chosen> => ({ file, content_base64: await base64Of(file) });
  const all = Object.entries(chosen).map(
    async ([name, files]) => [name, await Promise.all(files.map(read))] as const,
  );
  return Object.fromEntries(await Promise.all(all));
}

async function base64Of(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}

/** The fields that cannot be sent as they are, with why, as the API would say it. */
export function mistakesTyped(
  form: HTMLFormElement,
  fields: RequestFields | undefined,
): [TextControl, string][] {
  return [...form.elements].flatMap((control): [TextControl, string][] => {
    if (!isTextControl(control) || control.name === '') return [];
    const mistake = mistakeAt(control, fieldOf(fields, control.name));
    return mistake === null ? [] : [[control, mistake]];
  });
}

type TextControl = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const isTextControl = (element: Element): element is TextControl =>
  element instanceof HTMLInputElement ||
  element instanceof HTMLTextAreaElement ||
  element instanceof HTMLSelectElement;

function mistakeAt(control: TextControl, field: RequestField | undefined): string | null {
  const { validity, value, type } = control;
  if (validity.badInput)
    return type === 'date'
      ? 'must be a day'
      : type === 'datetime-local'
        ? 'must be a moment'
        : 'must be a number';
  if (validity.valueMissing) return 'is missing';
  if (control instanceof HTMLInputElement) {
    if (validity.rangeUnderflow) return `must be at least ${control.min}`;
    if (validity.rangeOverflow) return `must be at most ${control.max}`;
    if (validity.stepMismatch) return `must be a multiple of ${control.step}`;
  }
  // A day is chosen where some requests take a moment; and what a tick or a file is in a form is nothing that anybody typed.
  const isTyped = !['date', 'datetime-local', 'checkbox', 'radio', 'file', 'hidden'].includes(type);
  return value === '' || !isTyped || field === undefined ? null : mistakeIn(value, field);
}

/** `attachments[0].name` is of the field `attachments`. */
export function nameOf(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? field;
}
