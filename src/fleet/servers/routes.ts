import { SerialConsole } from '../../consoles/index.ts';
import { answer, IdParams, Raw, routes } from '../../platform/http/index.ts';
import { openServerConsole } from '../consoles/staff.ts';
import { changeServerDisk } from './disks.ts';
import { serverExamples } from './examples.ts';
import { importLimits, importServers } from './import.ts';
import { acceptOtherBmc } from './otherBmc.ts';
import { switchServer } from './power.ts';
import { askForReadings, readReadings } from './readings.ts';
import * as S from './schema.ts';
import { addServer, changeServer, listServers, lockServer, readServer } from './staff.ts';
import { quarantineServer, releaseServer, retireServer } from './standing.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;

const group = {
  tag: 'Staff: servers',
  about: 'Servers of the provider: machines in racks, which are rented whole.',
  examples: serverExamples,
};

export const serverRoutes = routes('/staff/servers', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listServers',
      summary: 'List servers',
      description: 'Every server of the provider, also those that are retired.',
      query: S.ServerQuery,
      data: S.ServerList,
    },
    (ctx, req) => listServers(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addServer',
      summary: 'Add server',
      description:
        'Writes down a server, which is `waiting` then. The password of its BMC is kept sealed and never shown.',
      body: S.NewServer,
      data: S.ServerData,
      errors: ['conflict'],
    },
    (ctx, req) => addServer(ctx, req.body),
  );
  route.post(
    '/import',
    {
      ...fleet,
      operation: 'importServers',
      summary: 'Add servers of a table',
      description:
        'Takes CSV (RFC 4180, UTF-8, at most 1 MiB and 500 servers) whose first line has the headings: `name`, `serial`, and of `rack`, `unit`, ' +
        '`height`, `macs`, `bmc_kind`, `bmc_address`, `bmc_port`, `bmc_user`, `bmc_password`, `bmc_certificate` and `note` those that are wanted. A rack is meant by its ' +
        'name, and MACs stand in one cell with blanks between them. When one line is wrong nothing is added, and `details` says of each what is wrong.',
      body: Raw(['text/csv']),
      bodyLimit: importLimits.bytes,
      data: S.Imported,
    },
    (ctx, req) => importServers(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...one,
      operation: 'getServer',
      summary: 'Get server',
      description: 'One server with its place, its disks and how its BMC is reached.',
      data: S.ServerData,
      errors: ['not_found'],
      // What is heard of its BMC goes on changing while somebody decides what is said of it.
      etag: { without: ['bmc'] },
    },
    (ctx, req) => readServer(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'changeServer',
      summary: 'Change or place a server',
      description:
        'Changes what the body names. A BMC is given whole, with its password, since the one that is kept is never sent to another address; null forgets it.',
      body: S.ServerChange,
      data: S.ServerData,
      errors: ['not_found', 'conflict', 'locked'],
      lock: (tx, req) => lockServer(tx, req.params.id),
    },
    (ctx, req) => changeServer(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/quarantine',
    {
      ...one,
      operation: 'quarantineServer',
      summary: 'Put a server into quarantine',
      description:
        'Keeps it out of stock until it is released. Possible while no order and no customer has it, and when the job that was to bring it there or back was dismissed: then it is taken from its service. Of one that a service is being moved to, that calls the move off: pull its power first where its BMC is silent. One that a customer rents stays theirs and as it is: they read that it is out of order (`out_of_order`), and nothing can be done with it, until it is released or its service has another one.',
      body: S.Quarantine,
      data: S.ServerData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => quarantineServer(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/release',
    {
      ...one,
      operation: 'releaseServer',
      summary: 'Release a server',
      description:
        'Of one that is quarantined, broken or retired: it is `waiting` again, as one that is new, since nobody knows what happened to it meanwhile. One that was out of order under its customer can be used again.',
      data: S.ServerData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => releaseServer(ctx, req.params.id),
  );
  route.post(
    '/:id/retire',
    {
      ...one,
      operation: 'retireServer',
      summary: 'Retire a server',
      description:
        'It leaves its rack for good and stays on the record. How its BMC was reached is forgotten. Possible while no order and no customer has it.',
      body: S.Retirement,
      data: S.ServerData,
      errors: ['not_found', 'conflict', 'locked'],
    },
    (ctx, req) => retireServer(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/start',
    {
      ...one,
      operation: 'startServer',
      summary: 'Start server',
      description:
        'Has its BMC switch it on. `bmc.action` says that it is under way, and `server.power_changed` or `server.power_failed` what came of it.',
      data: S.ServerData,
      errors: ['not_found', 'conflict', 'locked'],
    },
    (ctx, req) => switchServer(ctx, req.params.id, 'start'),
  );
  route.post(
    '/:id/stop',
    {
      ...one,
      operation: 'stopServer',
      summary: 'Stop server',
      description:
        'Has its BMC press its power button, which its system has two minutes to follow; with `force` its power goes at once. Answers as `start`.',
      body: S.PowerForce,
      data: S.ServerData,
      errors: ['not_found', 'conflict', 'locked'],
    },
    (ctx, req) => switchServer(ctx, req.params.id, 'stop', req.body.force),
  );
  route.post(
    '/:id/restart',
    {
      ...one,
      operation: 'restartServer',
      summary: 'Restart server',
      description:
        'Off, as `stop` does it, and on again. One that is off is switched on. Answers as `start`.',
      body: S.PowerForce,
      data: S.ServerData,
      errors: ['not_found', 'conflict', 'locked'],
    },
    (ctx, req) => switchServer(ctx, req.params.id, 'restart', req.body.force),
  );
  route.post(
    '/:id/console',
    {
      ...one,
      operation: 'openServerConsole',
      summary: 'Open the console of a server',
      description:
        'A WebSocket that works once, within 30 seconds, and carries the bytes of the serial line. Whoever opens it takes it over from who has it, also from its customer, ' +
        'who reads the reason. Not while our installer is being proved there.',
      body: S.ConsoleReason,
      data: SerialConsole,
      errors: ['not_found', 'conflict', 'locked', 'driver_absent'],
    },
    async (ctx, req) =>
      answer(await openServerConsole(ctx, req.params.id, req.body, req.principal), {
        'cache-control': 'no-store',
      }),
  );
  route.post(
    '/:id/bmc/accept',
    {
      ...one,
      operation: 'acceptServerBmc',
      summary: 'Accept another BMC of a server',
      description:
        'Where another BMC answers at the address of the one that is known (`bmc.other_uuid`), nothing is switched. This says that it is the server’s, since it or the mainboard was replaced. One with another password is given anew by `PATCH`.',
      body: S.OtherBmc,
      data: S.ServerData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => acceptOtherBmc(ctx, req.params.id, req.body),
  );
  route.get(
    '/:id/readings',
    {
      ...one,
      operation: 'getServerReadings',
      summary: 'Get sensors and event log of a server',
      description:
        'What its BMC measured and noted when it was read last, which is every quarter of an hour. Empty where it never was.',
      data: S.ReadingsData,
      errors: ['not_found'],
    },
    (ctx, req) => readReadings(ctx, req.params.id),
  );
  route.post(
    '/:id/readings',
    {
      ...one,
      operation: 'readServer',
      summary: 'Read sensors and event log of a server',
      description:
        'Has its BMC read once more. Answers what was read before; `server.bmc_read` says when it is done.',
      data: S.ReadingsData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => askForReadings(ctx, req.params.id),
  );
  route.post(
    '/:id/disks',
    {
      ...one,
      operation: 'changeServerDisk',
      summary: 'Record a changed disk',
      description:
        'Writes down by serial that a disk was taken out, put in, or one for another. The one that was taken out stays on the record. The next installation and the next wipe find exactly these; a server in stock waits to be enrolled again first.',
      body: S.DiskChange,
      data: S.ServerData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => changeServerDisk(ctx, req.params.id, req.body),
  );
});
