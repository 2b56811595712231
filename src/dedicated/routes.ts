import { SerialConsole } from '../consoles/index.ts';
import { answer, IdParams, routes } from '../platform/http/index.ts';
import {
  ActionData,
  ActionWithPassword,
  Force,
  History,
  HistoryParams,
  HistoryQuery,
  IpChange,
  IpData,
  Ips,
} from '../vps/index.ts';
import { listActions, readDedicatedAction } from './actions.ts';
import { openDedicatedConsole } from './console/open.ts';
import { readCredentials, showCredentials } from './credentials/show.ts';
import { examples } from './examples.ts';
import {
  changeDedicatedIp,
  lockDedicatedIps,
  readDedicated,
  readDedicatedHardware,
  readDedicatedIps,
  readDedicatedSensors,
} from './overview.ts';
import { switchDedicated } from './power.ts';
import { reinstallDedicated } from './reinstall/reinstall.ts';
import { rescueDedicated } from './rescue/rescue.ts';
import { readErasure, readErasurePdf } from './return/erasure.ts';
import { listProofKeys } from './return/proof.ts';
import * as S from './schema.ts';

const missing = ['not_found', 'not_on_server'] as const;
const reading = {
  auth: 'organization',
  permission: 'dedicated.read',
  params: IdParams,
  errors: missing,
} as const;
const power = {
  auth: 'organization',
  permission: 'dedicated.power',
  params: IdParams,
  body: Force,
  data: ActionData,
  errors: [...missing, 'locked', 'action_not_allowed', 'conflict'],
  limit: 'vps',
} as const;

const managing = {
  ...power,
  permission: 'dedicated.manage',
  personal: true,
  data: ActionWithPassword,
} as const;

const group = {
  tag: 'Dedicated servers',
  about: 'Use a server that is rented whole: power, sensors, hardware, addresses.',
  examples,
};

export const dedicatedRoutes = routes('/dashboard/service', group, (route) => {
  route.get(
    '/:id/dedicated/overview',
    {
      ...reading,
      operation: 'getDedicatedOverview',
      summary: 'Get dedicated server overview',
      description:
        'The server as it was heard of last: power, addresses, and which actions are possible. One whose controller is silent says since when.',
      data: S.Overview,
    },
    (ctx, req) => readDedicated(ctx, req.params.id),
  );
  route.post(
    '/:id/dedicated/start',
    {
      ...power,
      operation: 'startDedicatedServer',
      summary: 'Start dedicated server',
      description: 'Switches the server on. Poll the action to see when that is done.',
    },
    (ctx, req) => switchDedicated(ctx, req.params.id, 'start'),
  );
  route.post(
    '/:id/dedicated/stop',
    {
      ...power,
      operation: 'stopDedicatedServer',
      summary: 'Stop dedicated server',
      description:
        'Presses the power button, and the system has two minutes to shut down; with `force` the power goes at once.',
    },
    (ctx, req) => switchDedicated(ctx, req.params.id, 'stop', req.body),
  );
  route.post(
    '/:id/dedicated/restart',
    {
      ...power,
      operation: 'restartDedicatedServer',
      summary: 'Restart dedicated server',
      description:
        'Shuts the system down by the power button and starts the server again; with `force` the power goes and comes at once.',
    },
    (ctx, req) => switchDedicated(ctx, req.params.id, 'restart', req.body),
  );
  route.post(
    '/:id/dedicated/reinstall',
    {
      ...managing,
      operation: 'reinstallDedicatedServer',
      summary: 'Reinstall dedicated server',
      description:
        'Wipes the disks that the system goes to and installs it anew; other disks and the addresses stay. A generated password is in this answer alone.',
      body: S.Reinstall,
      errors: [...managing.errors, 'weak_password', 'invalid_domain', 'invalid_configuration'],
    },
    (ctx, req) => reinstallDedicated(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/dedicated/rescue',
    {
      ...managing,
      operation: 'rescueDedicatedServer',
      summary: 'Turn rescue system of dedicated server on or off',
      description:
        'Starts the server into a rescue system in memory, with your keys and at its own addresses, until it is turned off: then it starts its own disks again. Disks stay as they are.',
      body: S.Rescue,
      errors: [...managing.errors, 'weak_password'],
    },
    (ctx, req) => rescueDedicated(ctx, req.params.id, req.body),
  );
  route.get(
    '/:id/dedicated/console',
    {
      auth: 'organization',
      permission: 'dedicated.manage',
      params: IdParams,
      query: S.ConsoleQuery,
      operation: 'getDedicatedConsole',
      personal: true,
      // More than reading: whoever has it works on the server by our means.
      whileBlocked: false,
      summary: 'Get dedicated server console',
      description:
        'A WebSocket that works once, within 30 seconds, and carries the bytes of the serial line. A server has one: whoever opens it takes it over from who has it, ' +
        'whose socket closes with the code 4001. It closes within five seconds of the moment that the session or key it was asked for with ends or may no longer.',
      data: SerialConsole,
      errors: [...missing, 'action_not_allowed', 'driver_absent'],
      limit: 'vps',
    },
    async (ctx, req) =>
      answer(await openDedicatedConsole(ctx, req.params.id, req.principal), { 'cache-control': 'no-store' }),
  );
  route.get(
    '/:id/dedicated/credentials',
    {
      auth: 'organization',
      permission: 'dedicated.manage',
      params: IdParams,
      operation: 'getDedicatedCredentials',
      summary: 'Get dedicated server credentials',
      description:
        'Whether there is a password that we made for the server, as where neither a password nor an SSH key was given, and whether it was shown. A password of yours is never kept.',
      data: S.Credentials,
      errors: missing,
    },
    (ctx, req) => readCredentials(ctx, req.params.id),
  );
  route.post(
    '/:id/dedicated/credentials',
    {
      auth: 'organization',
      permission: 'dedicated.manage',
      params: IdParams,
      operation: 'showDedicatedCredentials',
      personal: true,
      whileBlocked: false,
      summary: 'Show dedicated server password',
      description:
        'Shows the password that we made, once: it is kept nowhere afterwards. `conflict` says that there is none, or to whom and when it was shown.',
      data: S.ShownCredentials,
      errors: [...missing, 'action_not_allowed', 'conflict'],
      limit: 'vps',
    },
    async (ctx, req) => answer(await showCredentials(ctx, req.params.id), { 'cache-control': 'no-store' }),
  );
  route.get(
    '/:id/dedicated/sensors',
    {
      ...reading,
      operation: 'getDedicatedSensors',
      summary: 'Get dedicated server sensors',
      description: 'Temperatures, fans, power and the like with their limits, read every quarter of an hour.',
      data: S.Sensors,
    },
    (ctx, req) => readDedicatedSensors(ctx, req.params.id),
  );
  route.get(
    '/:id/dedicated/hardware',
    {
      ...reading,
      operation: 'getDedicatedHardware',
      summary: 'Get dedicated server hardware',
      description: 'What the server has, as it was measured.',
      data: S.HardwareData,
    },
    (ctx, req) => readDedicatedHardware(ctx, req.params.id),
  );
  route.get(
    '/:id/dedicated/erasure',
    {
      ...reading,
      operation: 'getDedicatedErasure',
      summary: 'Get proof of erasure',
      description:
        'How each disk of the server was wiped when its service had ended, signed. `conflict` says why there is no such proof, or none yet.',
      data: S.ErasureData,
      errors: [...missing, 'conflict'],
    },
    (ctx, req) => readErasure(ctx, req.params.id),
  );
  route.get(
    '/:id/dedicated/erasure/pdf',
    {
      ...reading,
      operation: 'getDedicatedErasurePdf',
      summary: 'Get proof of erasure as PDF',
      description:
        'The proof of erasure as PDF/A-3, with what was signed inside it as the file `erasure.jws`. `conflict` as for the proof itself.',
      query: S.ErasurePdfQuery,
      produces: 'application/pdf',
      drivers: ['files'],
      errors: [...missing, 'conflict'],
      limit: 'documents',
    },
    (ctx, req) => readErasurePdf(ctx, req.drivers.files, req.params.id, req.query.language),
  );
  route.get(
    '/:id/dedicated/ips',
    {
      ...reading,
      operation: 'getDedicatedIpAddresses',
      summary: 'Get dedicated server IP addresses',
      description: 'The addresses of the server with their gateways and names.',
      data: Ips,
      etag: true,
    },
    (ctx, req) => readDedicatedIps(ctx, req.params.id),
  );
  route.patch(
    '/:id/dedicated/ips',
    {
      auth: 'organization',
      permission: 'dedicated.manage',
      params: IdParams,
      operation: 'updateDedicatedIpAddress',
      summary: 'Update dedicated server IP address',
      description: 'Sets the name that reverse DNS gives for an address.',
      body: IpChange,
      data: IpData,
      errors: [...missing, 'invalid_domain', 'action_not_allowed', 'not_supported'],
      drivers: ['dns'],
      lock: (tx, req) => lockDedicatedIps(tx, req.params.id),
    },
    (ctx, req) => changeDedicatedIp(ctx, req.params.id, req.body, req.drivers.dns),
  );
  route.get(
    '/:id/dedicated/history',
    {
      ...reading,
      operation: 'getDedicatedActionHistory',
      summary: 'Get dedicated server action history',
      description: 'Everything that was done to the server, newest first.',
      query: HistoryQuery,
      data: History,
    },
    (ctx, req) => listActions(ctx, req.params.id, req.query),
  );
  route.get(
    '/:id/dedicated/history/:action_id',
    {
      ...reading,
      params: HistoryParams,
      operation: 'getDedicatedAction',
      summary: 'Get one dedicated server action',
      description: 'One action. Poll it every second or two until its `status` is `success` or `error`.',
      data: ActionData,
    },
    (ctx, req) => readDedicatedAction(ctx, req.params.id, req.params.action_id),
  );
});

/** What proofs are verified with, by whoever was given one. */
export const proofRoutes = routes('/erasure-keys', group, (route) => {
  route.get(
    '',
    {
      auth: 'public',
      operation: 'listErasureKeys',
      summary: 'List keys of proofs of erasure',
      description:
        'The keys that proofs of erasure verify with, as a set of JSON web keys (RFC 7517). Needs no key of yours.',
      produces: 'application/jwk-set+json',
    },
    async (ctx) => ({
      body: Buffer.from(JSON.stringify(await listProofKeys(ctx))),
      name: 'erasure-keys.json',
    }),
  );
});
