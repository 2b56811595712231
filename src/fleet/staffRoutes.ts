import { IdParams, type RouteGroup, routes } from '../platform/http/index.ts';
import * as images from './imageStaff.ts';
import { changeNode, listNodes, readNode } from './nodes.ts';
import * as pools from './poolStaff.ts';
import * as S from './schema.ts';

const fleet = { auth: 'staff', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;
const image = { ...fleet, params: S.ImageParams } as const;

const nodeRoutes = routes('/staff/nodes', { tag: 'Staff: fleet' }, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listNodes',
      summary: 'List nodes',
      query: S.ByLocation,
      data: S.NodeList,
      errors: ['invalid_cursor', 'page_too_deep'],
    },
    (ctx, req) => listNodes(ctx, req.query),
  );
  route.get(
    '/:id',
    { ...one, operation: 'getNode', summary: 'Get node', data: S.NodeData, errors: ['not_found'] },
    (ctx, req) => readNode(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'updateNode',
      summary: 'Drain a node or change what it may promise',
      body: S.NodeChange,
      data: S.NodeData,
      errors: ['not_found'],
    },
    (ctx, req) => changeNode(ctx, req.params.id, req.body),
  );
});

const poolRoutes = routes('/staff/address-pools', { tag: 'Staff: fleet' }, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listAddressPools',
      summary: 'List address pools',
      query: S.ByLocation,
      data: S.PoolList,
      errors: ['invalid_cursor', 'page_too_deep'],
    },
    (ctx, req) => pools.listPools(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addAddressPool',
      summary: 'Add address pool',
      body: S.NewPool,
      data: S.PoolData,
      errors: ['conflict'],
    },
    (ctx, req) => pools.addPoolAsStaff(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...one,
      operation: 'getAddressPool',
      summary: 'Get address pool',
      data: S.PoolData,
      errors: ['not_found'],
    },
    (ctx, req) => pools.readPool(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'changeAddressPool',
      summary: 'Change address pool',
      body: S.PoolChange,
      data: S.PoolData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => pools.changePool(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...one,
      operation: 'removeAddressPool',
      summary: 'Remove address pool',
      data: S.Removed,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => pools.removePool(ctx, req.params.id),
  );
  route.get(
    '/:id/addresses',
    {
      ...one,
      operation: 'listPoolAddresses',
      summary: 'List addresses of a pool',
      query: S.PoolAddressQuery,
      data: S.PoolAddressList,
      errors: ['not_found', 'invalid_cursor', 'page_too_deep'],
    },
    (ctx, req) => pools.listPoolAddresses(ctx, req.params.id, req.query),
  );
  route.patch(
    '/:id/addresses',
    {
      ...one,
      operation: 'updatePoolAddress',
      summary: 'Reserve an address or give it back',
      body: S.Reservation,
      data: S.PoolAddressData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => pools.reserveAddress(ctx, req.params.id, req.body),
  );
});

const imageRoutes = routes('/staff/images', { tag: 'Staff: fleet' }, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listOperatingSystemImages',
      summary: 'List operating-system images',
      query: S.ImageQuery,
      data: S.ImageList,
      errors: ['invalid_cursor', 'page_too_deep'],
    },
    (ctx, req) => images.listImagesForStaff(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addOperatingSystemImage',
      summary: 'Add operating-system image',
      description: 'Builds it from a recipe or downloads it; `state` tells how far it is.',
      body: S.NewImage,
      data: S.ImageData,
      errors: ['conflict'],
    },
    (ctx, req) => images.createImage(ctx, req.body),
  );
  route.get(
    '/:slug',
    {
      ...image,
      operation: 'getOperatingSystemImage',
      summary: 'Get operating-system image',
      data: S.ImageData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => images.readImage(ctx, req.params.slug),
  );
  route.patch(
    '/:slug',
    {
      ...image,
      operation: 'changeOperatingSystemImage',
      summary: 'Change operating-system image',
      body: S.ImageChange,
      data: S.ImageData,
      errors: ['not_found'],
      current: (ctx, req) => images.lockImageForStaff(ctx, req.params.slug),
    },
    (ctx, req) => images.changeImage(ctx, req.params.slug, req.body),
  );
  route.post(
    '/:slug/prepare',
    {
      ...image,
      operation: 'prepareOperatingSystemImage',
      summary: 'Prepare operating-system image again',
      data: S.ImageData,
      errors: ['not_found'],
    },
    (ctx, req) => images.prepareImage(ctx, req.params.slug),
  );
  route.delete(
    '/:slug',
    {
      ...image,
      operation: 'removeOperatingSystemImage',
      summary: 'Remove operating-system image',
      data: S.Removed,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => images.removeImage(ctx, req.params.slug),
  );
});

export const fleetStaffRoutes: RouteGroup[] = [nodeRoutes, poolRoutes, imageRoutes];
