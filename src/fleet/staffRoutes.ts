import { IdParams, type RouteGroup, routes } from '../platform/http/index.ts';
import { installationRoutes } from './assignments/routes.ts';
import { baselineRoutes } from './baselines/routes.ts';
import { clusterRoutes } from './clusters/routes.ts';
import { enrolmentRoutes } from './enrolment/routes.ts';
import { examples } from './examples.ts';
import * as images from './imageStaff.ts';
import { changeNode, listNodes, lockNode, readNode } from './nodes.ts';
import * as pools from './poolStaff.ts';
import { profileRoutes } from './profiles/routes.ts';
import { rackRoutes } from './racks/routes.ts';
import { replaceNode } from './replaceNode.ts';
import * as S from './schema.ts';
import { serverRoutes } from './servers/routes.ts';
import { switchRoutes } from './switches/routes.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;
const image = { ...fleet, params: S.ImageParams } as const;

const group = {
  tag: 'Staff: fleet',
  about: 'Hosts, address pools and operating-system images.',
  examples,
};

const nodeRoutes = routes('/staff/nodes', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listNodes',
      summary: 'List nodes',
      description: 'The hosts that machines run on.',
      query: S.ByLocation,
      data: S.NodeList,
    },
    (ctx, req) => listNodes(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      ...one,
      operation: 'getNode',
      summary: 'Get node',
      description: 'One host with its capacity and what is taken.',
      data: S.NodeData,
      errors: ['not_found'],
      // What is taken and seen of it goes on changing while somebody decides what it may promise.
      etag: {
        without: [
          'last_seen_at',
          'reachable',
          'accepts_machines',
          'promised',
          'taken',
          'free',
          'full_in_days',
          'machines',
          'copies_gib',
          'trouble',
        ],
      },
    },
    (ctx, req) => readNode(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'updateNode',
      summary: 'Drain a node or change what it may promise',
      description: 'A node that is draining keeps its machines and takes no new ones.',
      body: S.NodeChange,
      data: S.NodeData,
      errors: ['not_found'],
      lock: (tx, req) => lockNode(tx, req.params.id),
    },
    (ctx, req) => changeNode(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/replace',
    {
      ...one,
      operation: 'replaceNode',
      summary: 'Let another host take the place of a node',
      description:
        'For a host that is gone for good. A node is known by its DATA_DIR; after this the next host that starts under ' +
        "the node's name takes its place, with the machines that its own DATA_DIR has. What is not there is lost.",
      data: S.NodeData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => replaceNode(ctx, req.params.id),
  );
});

const poolRoutes = routes('/staff/address-pools', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listAddressPools',
      summary: 'List address pools',
      description: 'The networks that machines get their addresses from.',
      query: S.ByLocation,
      data: S.PoolList,
    },
    (ctx, req) => pools.listPools(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addAddressPool',
      summary: 'Add address pool',
      description: 'Adds a network; its addresses are given to new machines of the location.',
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
      description: 'One network with how much of it is taken.',
      data: S.PoolData,
      errors: ['not_found'],
      // How many of its addresses are free changes with every order.
      etag: { without: ['addresses', 'full_in_days'] },
    },
    (ctx, req) => pools.readPool(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'changeAddressPool',
      summary: 'Change address pool',
      description: 'Changes its name, or how long a freed address rests.',
      body: S.PoolChange,
      data: S.PoolData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => pools.lockPool(tx, req.params.id),
    },
    (ctx, req) => pools.changePool(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...one,
      operation: 'removeAddressPool',
      summary: 'Remove address pool',
      description: 'Possible once none of its addresses is taken, resting or reserved.',
      data: S.Removed,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => pools.lockPool(tx, req.params.id),
    },
    (ctx, req) => pools.removePool(ctx, req.params.id),
  );
  route.get(
    '/:id/addresses',
    {
      ...one,
      operation: 'listPoolAddresses',
      summary: 'List addresses of a pool',
      description: 'Addresses of one pool and who has them.',
      query: S.PoolAddressQuery,
      data: S.PoolAddressList,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => pools.listPoolAddresses(ctx, req.params.id, req.query),
  );
  route.patch(
    '/:id/addresses',
    {
      ...one,
      operation: 'updatePoolAddress',
      summary: 'Reserve an address or give it back',
      description: 'A reserved address is given to nobody.',
      body: S.Reservation,
      data: S.PoolAddressData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => pools.lockPoolAddresses(tx, req.params.id),
    },
    (ctx, req) => pools.reserveAddress(ctx, req.params.id, req.body),
  );
});

const imageRoutes = routes('/staff/images', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listOperatingSystemImages',
      summary: 'List operating-system images',
      description: 'Operating systems, offered or not, and how far each is.',
      query: S.ImageQuery,
      data: S.ImageList,
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
      description: 'One operating system; poll it while its `state` is `preparing`.',
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
      description: 'Changes what the body names. One that is not `active` is not offered.',
      body: S.ImageChange,
      data: S.ImageData,
      errors: ['not_found'],
      lock: (tx, req) => images.lockImage(tx, req.params.slug),
    },
    (ctx, req) => images.changeImage(ctx, req.params.slug, req.body),
  );
  route.post(
    '/:slug/prepare',
    {
      ...image,
      operation: 'prepareOperatingSystemImage',
      summary: 'Prepare operating-system image again',
      description: 'Builds or downloads it once more.',
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
      description: 'Possible while no machine is made from it.',
      data: S.Removed,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => images.lockImage(tx, req.params.slug),
    },
    (ctx, req) => images.removeImage(ctx, req.params.slug),
  );
});

export const fleetStaffRoutes: RouteGroup[] = [
  clusterRoutes,
  nodeRoutes,
  poolRoutes,
  imageRoutes,
  rackRoutes,
  profileRoutes,
  baselineRoutes,
  serverRoutes,
  installationRoutes,
  enrolmentRoutes,
  switchRoutes,
];
