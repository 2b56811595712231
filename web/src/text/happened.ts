import { useQuery } from '@tanstack/react-query';
import { money } from './formats.ts';
import { type Language, useText } from './index.ts';

type Sentences = Readonly<Record<string, string>>;

/** What happened, in the languages other than the API's own; loaded with the first page that tells of it. */
const sentences: Partial<Record<Language, () => Promise<{ default: Sentences }>>> = {
  de: () => import('./events/happened.de.json'),
};

interface Happened {
  /** The event, as `invoice.paid` or `invoice_paid`. */
  action: string;
  /** What the API says of it, in English. */
  description: string;
}

/** Says what happened in the language of whoever looks; as the API says it where there are no words for it. */
export function useHappened(): (happened: Happened) => string {
  const { language } = useText();
  const load = sentences[language];
  const { data } = useQuery({
    queryKey: ['sentences', language],
    queryFn: async () => (await load?.())?.default ?? {},
    enabled: load !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return ({ action, description }) => data?.[action.replaceAll('.', '_')] ?? description;
}

/** What an event's values call the thing that it is of; the most telling one first. */
const names = ['hostname', 'subject', 'number', 'name', 'email', 'product', 'tid'];
const amounts = ['total', 'amount', 'price'];

/** Of an event's values what people want to know at once: which thing, and how much. */
export function useValues(): (values: Readonly<Record<string, unknown>>) => string {
  const { language } = useText();
  return (values) => {
    const said = (of: readonly string[]) =>
      of.map((name) => values[name]).find((value) => typeof value === 'string' && value !== '');
    const amount = said(amounts);
    const currency = typeof values.currency === 'string' ? values.currency : null;
    return [
      said(names),
      amount !== undefined && currency !== null && money(String(amount), currency, language),
    ]
      .filter(Boolean)
      .join(' · ');
  };
}
