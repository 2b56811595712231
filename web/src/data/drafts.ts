import { acting } from './impersonation.ts';
import { chosenOrganization } from './organization.ts';
import { signedInAs } from './signedIn.ts';

/** What somebody typed into a field, and what stood there when they began. */
interface Typed {
  over: string;
  text: string;
}

export type Draft = Readonly<Record<string, Typed>>;

const prefix = 'innkeeper.draft:';

/**
 * Under which name a form's draft is kept: this person's, of this organization, on this page. Null where none is kept: of
 * nobody, and of staff that acts as a customer.
 */
export function draftName(form: string): string | null {
  const person = signedInAs();
  if (person === null || acting() !== null) return null;
  return `${prefix}${person}:${chosenOrganization() ?? ''}:${window.location.pathname}:${form}`;
}

export function readDraft(name: string): Draft {
  const kept = sessionStorage.getItem(name);
  return kept === null ? {} : (JSON.parse(kept) as Draft);
}

/** Keeps what was typed for as long as the tab is open. Without room for it nothing is kept, and nobody is troubled. */
export function keepDraft(name: string, draft: Draft): void {
  sessionStorage.removeItem(name);
  if (Object.keys(draft).length === 0) return;
  try {
    sessionStorage.setItem(name, JSON.stringify(draft));
  } catch {
    // A tab may keep a few megabytes.
  }
}

/** Whoever signs out leaves nothing to the next one: all go but those of this person, if one is named. */
export function forgetDrafts(butOf: number | null): void {
  const names = Array.from({ length: sessionStorage.length }, (_, at) => sessionStorage.key(at) ?? '');
  for (const name of names)
    if (name.startsWith(prefix) && !name.startsWith(`${prefix}${butOf}:`)) sessionStorage.removeItem(name);
}
