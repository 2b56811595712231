import { Type } from 'typebox';
import { Choice, Nullable, named, Strict } from '../../platform/http/index.ts';
import { fonts, greetings, languages, links, PictureName, pages } from './section.ts';
import { colours } from './variables.ts';

const Colour = (description: string) =>
  Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description, examples: ['#1b4965'] });
const Picture = (description: string) =>
  Nullable(
    Type.String({ description, examples: ['/api/brand/pictures/1421e7438f4532db7ca0162490fc2bfe.png'] }),
  );

const EmptyPage = named(
  'EmptyPage',
  Type.Object(greetings.properties),
  'Plain text by language; null: the words of the dashboard',
);

const Colours = named(
  'BrandColours',
  Type.Object(Object.fromEntries(colours.map((name) => [name, Type.Optional(Colour(`Of \`--${name}\``))]))),
);

export const BrandData = named(
  'BrandAnswer',
  Type.Object({
    brand: named(
      'Brand',
      Type.Object({
        name: Type.String({ description: 'What customers know the company by' }),
        accent: Colour('As it was chosen'),
        accent_on_light: Colour('As it reads on white and under white text: 4.5 to 1'),
        accent_on_dark: Colour('As it reads on the dark theme'),
        font: Choice(fonts),
        radius: Type.Integer({ minimum: 0, maximum: 24 }),
        logo_light: Picture('Where the logo for light backgrounds is'),
        logo_dark: Picture('Where the one for dark backgrounds is'),
        favicon: Picture('Where the picture of a tab is'),
        links: named('BrandLinks', Type.Object(links.properties)),
        pages: Type.Array(named('BrandPage', Type.Object(pages.items.properties))),
        registration: Choice(['everybody', 'invited'], { description: 'Who may register' }),
        sign_in: named('SignInTexts', Type.Object(greetings.properties)),
        empty: named(
          'EmptyPages',
          Type.Object({
            services: EmptyPage,
            invoices: EmptyPage,
            tickets: EmptyPage,
          }),
          'What stands on the pages of customers that have nothing on them',
        ),
        languages: Type.Array(Choice(languages), {
          description: 'The first is for whoever speaks none of them',
        }),
        currency: Type.String({ description: 'What forms of staff begin with' }),
        variables: named(
          'BrandVariables',
          Type.Object({ light: Colours, dark: Colours }),
          'Colours that the provider has set, by theme',
        ),
      }),
      'How the company looks to customers',
    ),
  }),
);

export const PictureParams = Strict({ name: PictureName });

/** Longer than a logo ever needs to be. */
export const mostPictureBytes = 262_144;

export const NewPicture = named(
  'NewPicture',
  Strict({
    content_base64: Type.String({
      minLength: 4,
      maxLength: Math.ceil(mostPictureBytes / 3) * 4,
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      'x-message': 'must be base64 with padding, in one line',
      description: 'A PNG or WebP of at most 256 KiB',
    }),
  }),
);
export const PictureData = named('PictureAnswer', Type.Object({ picture: PictureName }));
