import { createContext, type ReactNode } from 'react';

/** Whether forms offer to be shown as code: those of whoever is signed in do. */
export const ShowsCode = createContext(false);

/** What only people do, such as showing a password. */
export function WithoutCode({ children }: { children: ReactNode }) {
  return <ShowsCode value={false}>{children}</ShowsCode>;
}
