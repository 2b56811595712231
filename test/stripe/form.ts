/** What a form says, nested: `a[b][0]=x` is `{ a: { b: { 0: 'x' } } }`. Stripe's requests are written so. */
export interface Form {
  [name: string]: string | Form;
}

export function parseForm(text: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    const last = path.pop() ?? name;
    let place = form;
    for (const part of path) {
      const inner = place[part];
      const next: Form = typeof inner === 'object' ? inner : {};
      place[part] = next;
      place = next;
    }
    place[last] = value;
  }
  return form;
}

export function textOf(form: Form, name: string): string | null {
  const value = form[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

export function formOf(form: Form, name: string): Form {
  const value = form[name];
  return typeof value === 'object' ? value : {};
}

/** The values of a list: `expand[0]=…&expand[1]=…`. */
export function listOf(form: Form, name: string): string[] {
  return Object.values(formOf(form, name)).filter((value) => typeof value === 'string');
}

/** As metadata is kept: names and texts. */
export function textsOf(form: Form, name: string): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(formOf(form, name)))
    if (typeof value === 'string') texts[key] = value;
  return texts;
}
