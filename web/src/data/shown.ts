/** Tells the server what this browser shows, so that it can paint the same; it knows neither otherwise. */
const name = 'innkeeper-shown';
const lastingS = 365 * 86_400;

export interface Shown {
  organizationId: number;
  scheme: 'light' | 'dark';
}

/** Null: nothing is painted in this browser any more. */
export function sayShown(shown: Shown | null): void {
  const [value, age] = shown === null ? ['', 0] : [`${shown.organizationId}-${shown.scheme}`, lastingS];
  const secure = window.location.protocol === 'https:' ? '; secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox and Safari have had the other way for a short time only.
  document.cookie = `${name}=${value}; path=/; max-age=${age}; samesite=lax${secure}`;
}
