import { answer, IdParams, Nothing, routes } from '../platform/http/index.ts';
import { listAttacksAsStaff, readAttackAsStaff, releaseMitigationAsStaff } from './byStaff/attacks.ts';
import { listAddressLists } from './byStaff/lists.ts';
import {
  changeShieldOrganization,
  lockShieldOrganization,
  readShieldOrganization,
} from './byStaff/organizations.ts';
import { listAnnouncements, listRulesAtRouters } from './edges/announcements.ts';
import { addPrefix, listPrefixes, lockPrefix, readProtectedPrefix, removePrefix } from './edges/prefixes.ts';
import { changeEdge, listEdges, lockEdge, readEdge, removeEdge } from './edges/staff.ts';
import {
  changeShieldProduct,
  listShieldProducts,
  lockShieldProduct,
  readShieldProduct,
} from './products/products.ts';
import { noticed } from './schema.ts';
import { staffExamples } from './staffExamples.ts';
import * as S from './staffSchema.ts';

const shield = { auth: 'staff', area: 'shield', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...shield, params: IdParams } as const;
const group = {
  tag: 'Staff: Shield',
  about: 'What stands in front of addresses, attacks on them, and what is done about these.',
  examples: staffExamples,
};

export const shieldStaffRoutes = routes('/staff/shield', group, (route) => {
  route.get(
    '/products',
    {
      ...shield,
      operation: 'listShieldProducts',
      summary: 'List sensitivities of products',
      description:
        'From where on traffic to machines of each product is an attack, and what is done about it, until owners say otherwise.',
      query: S.ProductQuery,
      data: S.ProductList,
    },
    (ctx, req) => listShieldProducts(ctx, req.query),
  );
  route.get(
    '/products/:id',
    {
      ...one,
      operation: 'getShieldProduct',
      summary: 'Get sensitivity of product',
      description: 'The same of one product.',
      data: S.ProductData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readShieldProduct(ctx, req.params.id),
  );
  route.patch(
    '/products/:id',
    {
      ...one,
      operation: 'updateShieldProduct',
      summary: 'Change sensitivity of product',
      description:
        'Sets what is named, also for machines that were sold already, where their owner has said nothing; null is as for all others.',
      body: S.ProductChange,
      data: S.ProductData,
      errors: ['not_found'],
      lock: (tx, req) => lockShieldProduct(tx, req.params.id),
    },
    (ctx, req) => changeShieldProduct(ctx, req.params.id, req.body),
  );
  route.get(
    '/edges',
    {
      ...shield,
      operation: 'listShieldEdges',
      summary: 'List edges',
      description:
        'What stands in front of addresses: what it can, how it is, and of routers who they are and what they may be told.',
      query: S.EdgeQuery,
      data: S.EdgeList,
    },
    (ctx, req) => listEdges(ctx, req.query),
  );
  route.get(
    '/edges/:id',
    {
      ...one,
      operation: 'getShieldEdge',
      summary: 'Get edge',
      description: 'One of them.',
      data: S.EdgeData,
      errors: ['not_found'],
      etag: { without: ['health', 'moving', 'routes', 'peers', 'reachable'] },
    },
    (ctx, req) => readEdge(ctx, req.params.id),
  );
  route.patch(
    '/edges/:id',
    {
      ...one,
      operation: 'updateShieldEdge',
      summary: 'Change edge',
      description:
        'Sets what is named: its name, what routers may be told, for the machines of which nodes a router filters.',
      body: S.EdgeChange,
      data: S.EdgeData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockEdge(tx, req.params.id),
    },
    (ctx, req) => changeEdge(ctx, req.params.id, req.body),
  );
  route.delete(
    '/edges/:id',
    {
      ...one,
      operation: 'removeShieldEdge',
      summary: 'Remove edge',
      description:
        'Takes one out of the list whose process speaks to it no more, such as routers that GOBGPD does not name any more.',
      data: Nothing,
      errors: ['not_found', 'edge_in_use'],
      lock: (tx, req) => lockEdge(tx, req.params.id),
    },
    (ctx, req) => removeEdge(ctx, req.params.id),
  );
  route.get(
    '/edges/:id/announcements',
    {
      ...one,
      operation: 'listShieldAnnouncements',
      summary: 'List announcements',
      description: 'What routers are told against attacks.',
      query: S.ByAddress,
      data: S.AnnouncementList,
      errors: ['not_found'],
    },
    (ctx, req) => listAnnouncements(ctx, req.params.id, req.query),
  );
  route.get(
    '/edges/:id/rules',
    {
      ...one,
      operation: 'listShieldRulesAtRouters',
      summary: 'List rules at routers',
      description: 'Of the rules of which addresses routers are told, and what they cannot be told of them.',
      query: S.ByAddress,
      data: S.RulesAtRoutersList,
      errors: ['not_found'],
    },
    (ctx, req) => listRulesAtRouters(ctx, req.params.id, req.query),
  );
  route.get(
    '/prefixes',
    {
      ...shield,
      operation: 'listShieldPrefixes',
      summary: 'List protected prefixes',
      description: 'The networks that routers in front may be told of.',
      query: S.PrefixQuery,
      data: S.PrefixList,
    },
    (ctx, req) => listPrefixes(ctx, req.query),
  );
  route.post(
    '/prefixes',
    {
      ...shield,
      operation: 'addShieldPrefix',
      summary: 'Add protected prefix',
      description: 'Lets routers be told of a network. Nothing is announced by that alone.',
      body: S.NewPrefix,
      data: S.PrefixData,
      errors: ['conflict'],
    },
    (ctx, req) => addPrefix(ctx, req.body),
  );
  route.get(
    '/prefixes/:id',
    {
      ...one,
      operation: 'getShieldPrefix',
      summary: 'Get protected prefix',
      description: 'One of them.',
      data: S.PrefixData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readProtectedPrefix(ctx, req.params.id),
  );
  route.delete(
    '/prefixes/:id',
    {
      ...one,
      operation: 'removeShieldPrefix',
      summary: 'Remove protected prefix',
      description: 'What routers were told of its addresses is withdrawn.',
      data: Nothing,
      errors: ['not_found'],
      lock: (tx, req) => lockPrefix(tx, req.params.id),
    },
    (ctx, req) => removePrefix(ctx, req.params.id),
  );
  route.get(
    '/address-lists',
    {
      ...shield,
      operation: 'listShieldAddressLists',
      summary: 'List address lists',
      description:
        'Lists of addresses that come with this version, such as Cloudflare’s: of which day they are, and which presets are made from them.',
      data: S.AddressLists,
    },
    () => listAddressLists(),
  );
  route.get(
    '/attacks',
    {
      ...shield,
      staffRoles: ['administrator', 'operator', 'support'],
      operation: 'listAttacksAsStaff',
      summary: 'List all attacks',
      description: 'Attacks on addresses of all organizations, and what is done against them.',
      query: S.AttackQuery,
      data: S.AttackList,
    },
    (ctx, req) => listAttacksAsStaff(ctx, req.query),
  );
  route.get(
    '/attacks/:id',
    {
      ...one,
      staffRoles: ['administrator', 'operator', 'support'],
      operation: 'getAttackAsStaff',
      summary: 'Get attack of an organization',
      description: 'One attack, and what was most frequent in it.',
      data: S.AttackData,
      beside: noticed,
      errors: ['not_found'],
    },
    async (ctx, req) => {
      const { data, notices } = await readAttackAsStaff(ctx, req.params.id);
      return answer(data, {}, { notices });
    },
  );
  route.post(
    '/mitigations/:id/release',
    {
      ...one,
      operation: 'releaseMitigationAsStaff',
      summary: 'Release mitigation of an organization',
      description:
        'Takes away what is done against an attack, for as long as that attack goes on. The organization sees it in its activity.',
      data: S.MitigationData,
      errors: ['not_found'],
    },
    (ctx, req) => releaseMitigationAsStaff(ctx, req.params.id),
  );
  route.get(
    '/organizations/:id',
    {
      ...one,
      operation: 'getShieldOrganization',
      summary: 'Get what an organization may have of Shield',
      description: 'Whether packets to its addresses may be sent to nowhere.',
      data: S.OrganizationData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readShieldOrganization(ctx, req.params.id),
  );
  route.patch(
    '/organizations/:id',
    {
      ...one,
      operation: 'updateShieldOrganization',
      summary: 'Change what an organization may have of Shield',
      description:
        'Allows or forbids that packets to its addresses are sent to nowhere, or leaves it to their owners. The organization sees it in its activity.',
      body: S.OrganizationChange,
      data: S.OrganizationData,
      errors: ['not_found'],
      lock: (tx, req) => lockShieldOrganization(tx, req.params.id),
    },
    (ctx, req) => changeShieldOrganization(ctx, req.params.id, req.body),
  );
});
