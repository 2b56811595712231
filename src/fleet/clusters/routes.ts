import { IdParams, Nothing, routes } from '../../platform/http/index.ts';
import { clusterExamples } from './examples.ts';
import * as S from './schema.ts';
import {
  addCluster,
  changeCluster,
  checkCluster,
  listClusters,
  lockCluster,
  readCluster,
  removeCluster,
} from './staff.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;

const group = {
  tag: 'Staff: clusters',
  about: 'Engines that keep many hosts together: their members are nodes.',
  examples: clusterExamples,
};

export const clusterRoutes = routes('/staff/clusters', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listClusters',
      summary: 'List clusters',
      description: 'The clusters that machines run on besides hosts of our own.',
      query: S.ClusterQuery,
      data: S.ClusterList,
    },
    (ctx, req) => listClusters(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addCluster',
      summary: 'Add cluster',
      description:
        'Writes down how a cluster is reached and has it looked at; `check` tells what was found. Once it is fit its members become ' +
        'nodes by themselves, and the operating systems on offer are brought there.',
      body: S.NewCluster,
      data: S.ClusterData,
      errors: ['conflict'],
    },
    (ctx, req) => addCluster(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...one,
      operation: 'getCluster',
      summary: 'Get cluster',
      description: 'One cluster; poll it while its `check` is `checking`.',
      data: S.ClusterData,
      errors: ['not_found'],
      // What is heard of it goes on changing while somebody decides how it is reached.
      etag: { without: ['check', 'fit', 'answers', 'answered_at', 'trouble', 'nodes', 'machines'] },
    },
    (ctx, req) => readCluster(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'changeCluster',
      summary: 'Drain a cluster or change how it is reached',
      description:
        'Reached in another way it is looked at anew, and driven again once it was found fit. Its engine, location, project and pool stay as they are.',
      body: S.ClusterChange,
      data: S.ClusterData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockCluster(tx, req.params.id),
    },
    (ctx, req) => changeCluster(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/check',
    {
      ...one,
      operation: 'checkCluster',
      summary: 'Look at a cluster once more',
      description:
        'Looks for all that machines need there: rights, project, storage pool, bridge. Nothing of it is changed.',
      data: S.ClusterData,
      errors: ['not_found'],
    },
    (ctx, req) => checkCluster(ctx, req.params.id),
  );
  route.delete(
    '/:id',
    {
      ...one,
      operation: 'removeCluster',
      summary: 'Remove cluster',
      description:
        'Possible while no machine and no order has room on it, and no member has another copy of a machine whose service the database knows; where that member does not answer, `confirm` says that the copy does not run. Machines of services that the database does not know do not keep it: their addresses stay reserved until you free them. After a restore of the database it is possible once the cluster has said what it has, or the restore is released. It is forgotten with its nodes; what it has stays there as it is.',
      query: S.ClusterRemoval,
      data: Nothing,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockCluster(tx, req.params.id),
    },
    (ctx, req) => removeCluster(ctx, req.params.id, req.query.confirm),
  );
});
