import { onDark, onLight } from '../../../src/settings/brand/shade.ts';
import { readVariables, usual } from '../../../src/settings/brand/variables.ts';
import type { Brand } from '../data/brand.ts';
import { useText } from '../text/index.ts';
import { families } from './theme.ts';

export type Draft = Pick<Brand, 'name' | 'accent' | 'font' | 'radius' | 'logo_light' | 'logo_dark'> & {
  /** CSS variables as they were typed. */
  css: string;
};

/** What a brand would look like, in both themes, before it is everybody's. */
export function BrandPreview({ draft }: { draft: Draft }) {
  const { t } = useText();
  // What is being typed may be no colour yet.
  const accent = /^#[0-9a-f]{6}$/i.test(draft.accent) ? draft.accent : '#000000';
  const read = readVariables(draft.css);
  // What is being typed may not be right yet.
  const set = 'variables' in read ? read.variables : { light: {}, dark: {} };
  const themes = [
    {
      name: 'light',
      page: set.light.page ?? usual.light.page,
      ink: set.light.text ?? usual.light.text,
      link: onLight(accent),
      logo: draft.logo_light ?? draft.logo_dark,
    },
    {
      name: 'dark',
      page: set.dark.page ?? usual.dark.page,
      ink: set.dark.text ?? usual.dark.text,
      link: onDark(accent),
      logo: draft.logo_dark ?? draft.logo_light,
    },
  ];
  return (
    <div
      className="brand-preview"
      role="img"
      aria-label={t('brand.preview')}
      style={{ fontFamily: families[draft.font] }}
    >
      {themes.map(({ name, page, ink, link, logo }) => (
        <div
          key={name}
          style={{ background: page, color: ink, borderRadius: draft.radius, borderColor: link }}
        >
          <strong>{logo === null ? draft.name : <img className="logo" src={logo} alt="" />}</strong>
          <p>
            web1.example.com <span style={{ color: link, textDecoration: 'underline' }}>203.0.113.7</span>
          </p>
          <span className="brand-button" style={{ background: onLight(accent), borderRadius: draft.radius }}>
            {t('nav.services')}
          </span>
        </div>
      ))}
    </div>
  );
}
