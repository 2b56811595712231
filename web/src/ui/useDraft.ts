import { type RefObject, useEffect, useRef } from 'react';
import { type Draft, draftName, keepDraft, readDraft } from '../data/drafts.ts';

type TextControl = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

interface DraftOfForm {
  /** Forgets what was kept, for it is being sent; returns how to have it kept again. */
  take(): () => void;
}

/**
 * Brings back what was typed into a form before the page was loaded anew, and keeps what is typed now, under a name that
 * no other form of the page has. Without a name nothing is kept: in a list or a dialog one form's words would come up in
 * another's. Passwords, codes and files never are. Where something else stands in a field by now than what was typed over, that stays.
 */
export function useDraft(form: RefObject<HTMLFormElement | null>, name: string | undefined): DraftOfForm {
  const kept = useRef<string | null>(null);
  useEffect(() => {
    const element = form.current;
    const key = name === undefined ? null : draftName(name);
    kept.current = key;
    if (element === null || key === null) return;
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
    return () => element.removeEventListener('input', keep);
  }, [form, name]);
  return {
    take() {
      const key = kept.current;
      if (key === null) return () => undefined;
      const draft = readDraft(key);
      keepDraft(key, {});
      return () => keepDraft(key, draft);
    },
  };
}

/** What people type or choose in, by its name. */
function controlsOf(form: HTMLFormElement): TextControl[] {
  return [...form.elements].filter(
    (element): element is TextControl =>
      (element instanceof HTMLTextAreaElement ||
        element instanceof HTMLSelectElement ||
        (element instanceof HTMLInputElement && element.type === 'text')) &&
      element.name !== '',
  );
}

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
