import { type RouteGroup, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { keepPicture, readPicture } from './pictures.ts';
import { type ReadLook, readLook } from './read.ts';
import * as S from './schema.ts';

export function brandRoutes(readBrand: ReadLook): RouteGroup {
  const group = {
    tag: 'Brand',
    about: 'How the company looks to customers. Needs no key.',
    examples,
  };
  return routes('/brand', group, (route) => {
    route.get(
      '',
      {
        auth: 'public',
        operation: 'getBrand',
        summary: 'Get the brand',
        description:
          'Name, colours, logos and links, as the dashboard shows them. The accent comes in the shades that read as well.',
        data: S.BrandData,
        etag: true,
      },
      (ctx) => readLook(ctx, readBrand),
    );
    route.get(
      '/pictures/:name',
      {
        auth: 'public',
        operation: 'getBrandPicture',
        summary: 'Get a picture of the brand',
        description: 'A logo or the picture of a tab. A name stands for one picture for ever.',
        params: S.PictureParams,
        produces: 'image/png',
        drivers: ['files'],
        errors: ['not_found', 'unavailable'],
      },
      (_ctx, req) => readPicture(req.drivers.files, req.params.name),
    );
  });
}

export const brandStaffRoutes = routes(
  '/staff/brand',
  { tag: 'Staff: settings', about: 'How the company runs: what you can change while it does.', examples },
  (route) => {
    route.post(
      '/pictures',
      {
        auth: 'staff',
        area: 'billing',
        staffRoles: ['administrator'],
        operation: 'addBrandPicture',
        summary: 'Add a picture of the brand',
        description:
          'Keeps a PNG or WebP and answers its name, for `logo_light`, `logo_dark` and `favicon` of the settings `brand`. What it ' +
          'is its bytes say.',
        body: S.NewPicture,
        data: S.PictureData,
        drivers: ['files'],
        errors: ['unavailable'],
      },
      (_ctx, req) => keepPicture(req.drivers.files, req.body.content_base64),
    );
  },
);
