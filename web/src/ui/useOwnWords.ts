import { type Brand, useBrand } from '../data/brand.ts';
import { useText } from '../text/index.ts';

/** What the provider says on a page with nothing on it; null: it says nothing of its own. */
export function useOwnWords(page: keyof Brand['empty']): string | null {
  const { language } = useText();
  return useBrand().empty[page][language];
}
