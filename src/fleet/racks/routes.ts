import { IdParams, Nothing, routes } from '../../platform/http/index.ts';
import { rackExamples } from './examples.ts';
import * as S from './schema.ts';
import { addRack, changeRack, listRacks, lockRack, readRack, removeRack } from './staff.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;

const group = {
  tag: 'Staff: racks',
  about: 'Racks of the provider, in which servers stand.',
  examples: rackExamples,
};

export const rackRoutes = routes('/staff/racks', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listRacks',
      summary: 'List racks',
      description: 'Each with how many servers stand in it and how many of its units they take.',
      query: S.RackQuery,
      data: S.RackList,
    },
    (ctx, req) => listRacks(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addRack',
      summary: 'Add rack',
      description: 'A rack to place servers in.',
      body: S.NewRack,
      data: S.RackData,
      errors: ['conflict'],
    },
    (ctx, req) => addRack(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...one,
      operation: 'getRack',
      summary: 'Get rack',
      description: 'One rack; what stands in it, `GET /staff/servers?rack_id=` lists.',
      data: S.RackData,
      errors: ['not_found'],
      // Servers come and go while somebody decides what is said of the rack.
      etag: { without: ['servers', 'units_taken'] },
    },
    (ctx, req) => readRack(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'changeRack',
      summary: 'Change rack',
      description: 'Changes what the body names. It never gets fewer units than what stands in it needs.',
      body: S.RackChange,
      data: S.RackData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockRack(tx, req.params.id),
    },
    (ctx, req) => changeRack(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...one,
      operation: 'removeRack',
      summary: 'Remove rack',
      description: 'Possible while nothing stands in it.',
      data: Nothing,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockRack(tx, req.params.id),
    },
    (ctx, req) => removeRack(ctx, req.params.id),
  );
});
