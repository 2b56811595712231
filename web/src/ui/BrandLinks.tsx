import { useBrand } from '../data/brand.ts';
import { useText } from '../text/index.ts';

const kinds = ['imprint', 'terms', 'privacy', 'status'] as const;

/** Where the provider says what the law asks for, and their own pages. */
export function BrandLinks() {
  const { t } = useText();
  const { links, pages } = useBrand();
  const known = kinds.flatMap((kind) => {
    const url = links[kind];
    return url === null ? [] : [{ label: t(`brand.${kind}`), url }];
  });
  const all = [...known, ...pages];
  if (all.length === 0) return null;
  return (
    <ul className="brand-links">
      {all.map(({ label, url }) => (
        <li key={`${label} ${url}`}>
          <a href={url} target="_blank" rel="noreferrer">
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}
