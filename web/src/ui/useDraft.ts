import { type RefObject, useEffect, useRef } from 'react';
import { type Draft, draftName, keepDraft, readDraft } from '../data/drafts.ts';

type TextControl = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** How many forms of a name are drawn: rows of a list have one each. */
const drawn = new Map<string, number>();

/**
 * Brings back what was typed into a form before the page was loaded anew, and keeps what is typed now; returns what forgets
 * it once it was sent. Passwords, codes and files are never kept, nor anything of a form that asks for one. Where
 * something else stands in a field by now than what was typed over, that stays.
 */
export function useDraft(form: RefObject<HTMLFormElement | null>, submit: string): () => void {
  const name = useRef<string | null>(null);
  // A button may say a price, which changes with what is typed.
  const called = useRef(submit);
  useEffect(() => {
    const element = form.current;
    if (element === null || element.querySelector('[type=password], [autocomplete=one-time-code]')) return;
    const ofForm = draftName(called.current);
    if (ofForm === null) return;
    const nth = drawn.get(ofForm) ?? 0;
    drawn.set(ofForm, nth + 1);
    const key = `${ofForm}:${nth}`;
    name.current = key;
    const before = new Map(controlsOf(element).map((control) => [control.name, control.value]));
    bringBack(element, readDraft(key));
    const keep = () => {
      const typed = controlsOf(element).flatMap((control): [string, Draft[string]][] => {
        const over = before.get(control.name) ?? '';
        return control.value === over ? [] : [[control.name, { over, text: control.value }]];
      });
      keepDraft(key, Object.fromEntries(typed));
    };
    element.addEventListener('input', keep);
    return () => {
      element.removeEventListener('input', keep);
      drawn.set(ofForm, (drawn.get(ofForm) ?? 1) - 1);
    };
  }, [form]);
  return () => {
    if (name.current !== null) keepDraft(name.current, {});
  };
}

/** What people type or choose in, by its name. */
function controlsOf(form: HTMLFormElement): TextControl[] {
  return [...form.elements].filter(
    (element): element is TextControl =>
      (element instanceof HTMLTextAreaElement ||
        element instanceof HTMLSelectElement ||
        (element instanceof HTMLInputElement && typed.has(element.type))) &&
      element.name !== '',
  );
}

const typed = new Set(['text', 'email', 'url', 'tel', 'number', 'date', 'search']);

/** As if it were typed again, so that whoever is told of what is typed hears of it. */
function bringBack(form: HTMLFormElement, draft: Draft): void {
  for (const control of controlsOf(form)) {
    const kept = draft[control.name];
    if (kept === undefined || kept.over !== control.value) continue;
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), 'value')?.set;
    set?.call(control, kept.text);
    control.dispatchEvent(new Event('input', { bubbles: true }));
    if (control instanceof HTMLSelectElement) control.dispatchEvent(new Event('change', { bubbles: true }));
  }
}
