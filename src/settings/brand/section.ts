import { type TSchema, Type } from 'typebox';
import { Choice, CurrencyCode, line, Nullable, Strict } from '../../platform/http/index.ts';
import { settings } from '../section.ts';
import { readVariables } from './variables.ts';

/** Families of fonts that every system has one of: nobody's font is loaded from anywhere. */
export const fonts = ['system', 'humanist', 'grotesque', 'rounded', 'serif'] as const;

/** Of each family one that every system has, as style sheets and mails name them. */
export const familyOf: Readonly<Record<(typeof fonts)[number], string>> = {
  system: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  humanist: "Seravek, 'Gill Sans Nova', Ubuntu, Calibri, 'DejaVu Sans', 'Source Sans Pro', sans-serif",
  grotesque: "Bahnschrift, 'DIN Alternate', 'Franklin Gothic Medium', 'Nimbus Sans', Arial, sans-serif",
  rounded:
    "ui-rounded, 'Hiragino Maru Gothic ProN', Quicksand, Comfortaa, Manjari, 'Arial Rounded MT', sans-serif",
  serif: "'Iowan Old Style', Charter, 'Bitstream Charter', 'Sitka Text', Cambria, 'Noto Serif', serif",
};

export const PictureName = Type.String({
  pattern: '^[0-9a-f]{32}\\.(png|webp)$',
  'x-message': 'must be the name of a picture, as POST /staff/brand/pictures answers it',
  examples: ['1421e7438f4532db7ca0162490fc2bfe.png'],
});

const Link = Type.String({
  maxLength: 500,
  pattern: '^https://[^\\s/?#"<>\\\\]+[^\\s"<>\\\\]*$',
  'x-message': 'must be an address such as https://example.com/imprint',
  examples: ['https://hosting.example/imprint'],
});

const described = <T extends TSchema>(description: string, schema: T): T => ({ ...schema, description });

const Greeting = Nullable(Type.String({ minLength: 1, maxLength: 500, examples: ['Welcome back.'] }));

export const links = Strict({
  imprint: Nullable(Link),
  terms: Nullable(Link),
  privacy: Nullable(Link),
  status: Nullable(Link),
});

/** Languages of the dashboard. */
export const languages = ['en', 'de'] as const;

export const pages = Type.Array(Strict({ label: line(40), url: Link }), { maxItems: 6 });

export const greetings = Strict({ en: Greeting, de: Greeting });

/** What stands on the pages of customers that have nothing on them. */
export const emptyPages = Strict({ services: greetings, invoices: greetings, tickets: greetings });

/** How the company looks to customers. Its legal name and the accent stand in the section `company`, with what invoices say. */
export const brand = settings({
  name: 'brand',
  about: 'How the company looks to customers; its accent is `colour` of the section `company`',
  shape: Strict({
    name: described('What customers know it by; null: the name of the company', Nullable(line(60))),
    logo_light: described(
      'For light backgrounds; in mails and on documents, too, where it is a PNG. On documents only one of at most 500,000 pixels ' +
        'without single transparent colours: one with an alpha channel is drawn as it is',
      Nullable(PictureName),
    ),
    logo_dark: described(
      'For dark backgrounds; null: the other one. In mails and on documents only where there is no other',
      Nullable(PictureName),
    ),
    favicon: described('What a tab shows', Nullable(PictureName)),
    font: Choice(fonts, { description: 'A family of fonts that every system has one of' }),
    radius: Type.Integer({ minimum: 0, maximum: 24, description: 'Of corners, in pixels' }),
    links: described('Where what the law asks for stands', links),
    pages: described('Own pages, linked beside those', pages),
    registration: Choice(['everybody', 'invited'], {
      description: 'Who may register: everybody, or those alone whom an organization has invited',
    }),
    sign_in: described('What stands above the sign-in, by language', greetings),
    empty: described(
      'What customers read on a page with nothing on it yet, by language; null: our own words',
      emptyPages,
    ),
    languages: Type.Array(Choice(languages), {
      minItems: 1,
      uniqueItems: true,
      description: 'What the dashboard is offered in; the first one is for whoever speaks none of them',
    }),
    currency: CurrencyCode({
      description: 'What forms of staff begin with; products and invoices keep theirs',
    }),
    css: described(
      'CSS variables, a line each: `page`, `line`, `text` or `quiet` with `-light` or `-dark`, as `--page-light: #fffdf7;`. ' +
        'Colours alone, and such that text can be read on them; null: ours',
      Nullable(Type.String({ minLength: 1, maxLength: 4_000, examples: ['--page-light: #fffdf7;'] })),
    ),
  }),
  defaults: {
    name: null,
    logo_light: null,
    logo_dark: null,
    favicon: null,
    font: 'system',
    radius: 8,
    links: { imprint: null, terms: null, privacy: null, status: null },
    pages: [],
    registration: 'everybody',
    sign_in: { en: null, de: null },
    empty: {
      services: { en: null, de: null },
      invoices: { en: null, de: null },
      tickets: { en: null, de: null },
    },
    languages: [...languages],
    currency: 'EUR',
    css: null,
  },
  example: {
    name: 'Example Hosting',
    logo_light: null,
    logo_dark: null,
    favicon: null,
    font: 'system',
    radius: 8,
    links: {
      imprint: 'https://hosting.example/imprint',
      terms: 'https://hosting.example/terms',
      privacy: 'https://hosting.example/privacy',
      status: 'https://status.hosting.example/',
    },
    pages: [{ label: 'Guides', url: 'https://hosting.example/guides' }],
    registration: 'everybody',
    sign_in: { en: 'Welcome back.', de: 'Willkommen zurück.' },
    empty: {
      services: {
        en: 'Your first server is a minute away.',
        de: 'Ihr erster Server ist eine Minute entfernt.',
      },
      invoices: { en: null, de: null },
      tickets: { en: null, de: null },
    },
    languages: ['en', 'de'],
    currency: 'EUR',
    css: '--page-light: #fffdf7;',
  },
  check: ({ css }) => {
    const read = css === null ? { variables: null } : readVariables(css);
    return 'problem' in read ? { field: 'css', message: read.problem } : null;
  },
});
