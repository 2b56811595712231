import { answer, IdParams, routes } from '../platform/http/index.ts';
import { readAccess, replaceAccess } from './access/keys.ts';
import { resetPassword } from './access/password.ts';
import { listHistory, readAction } from './actions/history.ts';
import { readCharts } from './charts.ts';
import { openConsole } from './console/open.ts';
import { readScreen } from './console/screen.ts';
import { examples } from './examples.ts';
import { reinstallVps } from './install/reinstall.ts';
import { changeIp, lockIps, readIps, readOverview } from './overview.ts';
import { restartVps, startVps, stopVps } from './power.ts';
import { lockOwnVps } from './queries.ts';
import * as S from './schema.ts';
import { changeSettings, readSettings } from './settings.ts';
import {
  createSnapshot,
  deleteSnapshot,
  listSnapshots,
  lockSnapshot,
  readSnapshot,
  restoreSnapshot,
} from './snapshots/snapshots.ts';

const missing = ['not_found', 'not_a_vps'] as const;
const refused = [...missing, 'locked', 'action_not_allowed', 'not_supported'] as const;

const reading = { auth: 'organization', permission: 'vps.read', params: IdParams, errors: missing } as const;
const acting = {
  auth: 'organization',
  params: IdParams,
  data: S.ActionData,
  errors: refused,
  limit: 'vps',
} as const;
const power = { ...acting, permission: 'vps.power' } as const;
const managing = { ...acting, permission: 'vps.manage' } as const;

const group = {
  tag: 'VPS manager',
  about: 'Use a virtual server: power, console, disks, addresses, settings.',
  examples,
};

export const vpsRoutes = routes('/dashboard/service', group, (route) => {
  route.get(
    '/:id/vps/overview',
    {
      ...reading,
      operation: 'getVpsOverview',
      summary: 'Get VPS overview',
      description: 'The machine as it is now: state, size, use, addresses, and which actions are possible.',
      data: S.Overview,
    },
    (ctx, req) => readOverview(ctx, req.params.id),
  );

  // `force` means nothing to a machine that is down; clients send the three one body (contract §4).
  route.post(
    '/:id/vps/start',
    {
      ...power,
      operation: 'startVps',
      summary: 'Start VPS',
      description: 'Starts the machine. Poll the action to see when it runs.',
      body: S.Force,
    },
    (ctx, req) => startVps(ctx, req.params.id),
  );
  route.post(
    '/:id/vps/stop',
    {
      ...power,
      operation: 'stopVps',
      summary: 'Stop VPS',
      description:
        'Shuts the machine down as its power button does, or at once with `force`, whatever is under way with it; ' +
        '`actions.force_stop` of the overview says whether that is possible.',
      body: S.Force,
    },
    (ctx, req) => stopVps(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/vps/restart',
    {
      ...power,
      operation: 'restartVps',
      summary: 'Restart VPS',
      description: 'Restarts the machine, or cuts its power and starts it again with `force`.',
      body: S.Force,
    },
    (ctx, req) => restartVps(ctx, req.params.id, req.body),
  );

  route.get(
    '/:id/vps/console',
    {
      auth: 'organization',
      permission: 'vps.manage',
      params: IdParams,
      operation: 'getVpsConsole',
      personal: true,
      // More than reading: whoever has it works on the machine by our means.
      whileBlocked: false,
      summary: 'Get VPS console',
      description:
        'A WebSocket that works once, within 30 seconds, and carries the bytes of RFB or of the serial line. It closes within ' +
        'five seconds of the moment that the session or key it was asked for with ends or may no longer.',
      query: S.ConsoleQuery,
      data: S.Console,
      errors: refused,
      // The way that it opens ends in this process, which has to reach the machine.
      drivers: ['hypervisor'],
      limit: 'vps',
    },
    async (ctx, req) =>
      answer(
        await openConsole(ctx, req.params.id, req.query.type ?? 'vnc', req.principal, req.drivers.hypervisor),
        { 'cache-control': 'no-store' },
      ),
  );

  route.get(
    '/:id/vps/screen',
    {
      auth: 'organization',
      permission: 'vps.manage',
      params: IdParams,
      operation: 'getVpsScreen',
      personal: true,
      // It shows what a console shows.
      whileBlocked: false,
      summary: 'Get VPS screen',
      description:
        'What is on the screen of the running machine now, as a PNG; it tells a boot that hangs from a network that is dead. ' +
        'Do not poll: `watch=vps:{id}` at the stream of events brings `vps.screen` when it has changed, and `If-None-Match` ' +
        'saves you a picture that you have.',
      produces: 'image/png',
      etag: true,
      errors: [...missing, 'action_not_allowed', 'not_supported', 'unavailable'],
      // The machine is reached from this process.
      drivers: ['hypervisor'],
      limit: 'vpsScreen',
    },
    (ctx, req) => readScreen(ctx, req.params.id, req.drivers.hypervisor),
  );

  route.post(
    '/:id/vps/reinstall',
    {
      ...managing,
      operation: 'reinstallVps',
      personal: true,
      summary: 'Reinstall VPS',
      description:
        'Installs a system anew. The disk and its snapshots are deleted; addresses and backups stay.',
      body: S.Reinstall,
      data: S.ActionWithPassword,
      errors: [...refused, 'weak_password', 'invalid_domain', 'invalid_configuration'],
    },
    (ctx, req) => reinstallVps(ctx, req.params.id, req.body),
  );

  route.get(
    '/:id/vps/ips',
    {
      ...reading,
      operation: 'getVpsIpAddresses',
      summary: 'Get VPS IP addresses',
      description: 'The addresses of the machine with their gateways and names.',
      data: S.Ips,
      etag: true,
    },
    (ctx, req) => readIps(ctx, req.params.id),
  );
  route.patch(
    '/:id/vps/ips',
    {
      auth: 'organization',
      permission: 'vps.manage',
      params: IdParams,
      operation: 'updateIpAddress',
      summary: 'Update IP address',
      description: 'Sets the name that reverse DNS gives for an address.',
      body: S.IpChange,
      data: S.IpData,
      errors: [...missing, 'invalid_domain', 'action_not_allowed', 'not_supported'],
      drivers: ['dns'],
      lock: (tx, req) => lockIps(tx, req.params.id),
    },
    (ctx, req) => changeIp(ctx, req.params.id, req.body, req.drivers.dns),
  );

  route.get(
    '/:id/vps/charts',
    {
      ...reading,
      operation: 'getPerformanceCharts',
      summary: 'Get performance charts',
      description: 'What the machine used, measured and averaged over each interval of the period.',
      query: S.ChartQuery,
      data: S.Charts,
    },
    (ctx, req) => readCharts(ctx, req.params.id, req.query.period ?? 'hour'),
  );

  route.get(
    '/:id/vps/history',
    {
      ...reading,
      operation: 'getVpsActionHistory',
      summary: 'Get VPS action history',
      description: 'Everything that was done to the machine, newest first.',
      query: S.HistoryQuery,
      data: S.History,
      errors: missing,
    },
    (ctx, req) => listHistory(ctx, req.params.id, req.query),
  );
  route.get(
    '/:id/vps/history/:action_id',
    {
      ...reading,
      params: S.HistoryParams,
      operation: 'getVpsAction',
      summary: 'Get one VPS action',
      description: 'One action. Poll it every second or two until its `status` is `success` or `error`.',
      data: S.ActionData,
    },
    (ctx, req) => readAction(ctx, req.params.id, req.params.action_id),
  );

  route.get(
    '/:id/vps/snapshots',
    {
      ...reading,
      operation: 'getSnapshots',
      summary: 'Get snapshots',
      description: 'The snapshots and nightly backups of the machine.',
      data: S.Snapshots,
    },
    (ctx, req) => listSnapshots(ctx, req.params.id),
  );
  route.post(
    '/:id/vps/snapshots',
    {
      ...managing,
      operation: 'createSnapshot',
      summary: 'Create snapshot',
      description: 'Keeps the disk as it is now. The machine keeps running.',
      body: S.NewSnapshot,
      errors: [...refused, 'conflict', 'too_many', 'no_space'],
    },
    (ctx, req) => createSnapshot(ctx, req.params.id, req.body),
  );
  route.get(
    '/:id/vps/snapshots/:name',
    {
      ...reading,
      params: S.SnapshotParams,
      operation: 'getSnapshot',
      summary: 'Get snapshot',
      description: 'One snapshot or nightly backup of the machine.',
      data: S.SnapshotData,
      etag: true,
    },
    (ctx, req) => readSnapshot(ctx, req.params.id, req.params.name),
  );
  route.delete(
    '/:id/vps/snapshots/:name',
    {
      ...managing,
      params: S.SnapshotParams,
      operation: 'deleteSnapshot',
      summary: 'Delete snapshot',
      description: 'Removes a snapshot for good; the disk stays as it is.',
      lock: (tx, req) => lockSnapshot(tx, req.params.id, req.params.name),
    },
    (ctx, req) => deleteSnapshot(ctx, req.params.id, req.params.name),
  );
  route.post(
    '/:id/vps/snapshots/:name/restore',
    {
      ...managing,
      params: S.SnapshotParams,
      operation: 'restoreSnapshot',
      summary: 'Restore snapshot',
      description:
        'Puts the disk back to what it was. Everything written since is lost; passwords and keys are those of then.',
      body: S.RestoreOptions,
      errors: [...refused, 'conflict'],
    },
    (ctx, req) => restoreSnapshot(ctx, req.params.id, req.params.name, req.body),
  );

  route.get(
    '/:id/vps/settings',
    {
      ...reading,
      operation: 'getVpsSettings',
      summary: 'Get VPS settings',
      description: 'Hostname, boot order, nightly backups, protection and the like.',
      data: S.SettingsData,
      errors: refused,
      etag: true,
    },
    (ctx, req) => readSettings(ctx, req.params.id),
  );
  route.patch(
    '/:id/vps/settings',
    {
      auth: 'organization',
      permission: 'vps.manage',
      params: IdParams,
      operation: 'updateVpsSettings',
      summary: 'Update VPS settings',
      description:
        'Changes what the body names; the rest stays. Send `If-Match` so that no other change is lost.',
      body: S.SettingsChange,
      data: S.SettingsData,
      errors: [...refused, 'invalid_domain'],
      lock: (tx, req) => lockOwnVps(tx, req.params.id),
    },
    (ctx, req) => changeSettings(ctx, req.params.id, req.body),
  );

  route.post(
    '/:id/vps/reset-password',
    {
      ...managing,
      operation: 'resetVpsPassword',
      personal: true,
      summary: 'Reset VPS password',
      description:
        'Sets the password of `root` on the running machine. Without one in the body it is made up and shown this once.',
      body: S.ResetPassword,
      data: S.ActionWithPassword,
      errors: [...refused, 'weak_password'],
    },
    (ctx, req) => resetPassword(ctx, req.params.id, req.body),
  );

  route.get(
    '/:id/vps/access',
    {
      ...reading,
      operation: 'getVpsSshKeys',
      summary: 'Get SSH keys of VPS',
      description: 'The SSH keys of your account, and which of them the machine lets in.',
      data: S.Access,
    },
    (ctx, req) => readAccess(ctx, req.params.id),
  );
  route.post(
    '/:id/vps/access',
    {
      ...managing,
      operation: 'updateVpsSshKeys',
      personal: true,
      summary: 'Update SSH keys of VPS',
      description: 'Replaces the SSH keys that the running machine lets in.',
      body: S.AccessChange,
    },
    (ctx, req) => replaceAccess(ctx, req.params.id, req.body),
  );
});
