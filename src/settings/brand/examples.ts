import { brand } from './section.ts';

/** Of the picture below: a name follows from the bytes. */
const picture = '1421e7438f4532db7ca0162490fc2bfe.png';
const { logo_light: _light, logo_dark: _dark, favicon: _tab, css: _css, ...said } = brand.example;

export const examples = {
  getBrand: {
    data: {
      brand: {
        ...said,
        ...{
          name: 'Example Hosting',
          accent: '#1b4965',
          accent_on_light: '#1b4965',
          accent_on_dark: '#8fa8b5',
        },
        logo_light: `/api/brand/pictures/${picture}`,
        logo_dark: `/api/brand/pictures/${picture}`,
        favicon: null,
        variables: { light: { page: '#fffdf7' }, dark: {} },
      },
    },
  },
  getBrandPicture: { params: { name: picture }, data: null },
  addBrandPicture: {
    body: {
      content_base64:
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9kwFAAFMAMobXSTHAAAAAElFTkSuQmCC',
    },
    data: { picture },
  },
};
