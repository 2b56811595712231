import { IdParams, Nothing, routes } from '../../platform/http/index.ts';
import { switchExamples } from './examples.ts';
import { listSwitchPorts, plugSwitchPort } from './ports.ts';
import * as S from './schema.ts';
import {
  addSwitch,
  changeSwitch,
  checkSwitch,
  listSwitches,
  lockSwitch,
  readSwitch,
  removeSwitch,
} from './staff.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;

const group = {
  tag: 'Staff: switches',
  about: 'What servers are plugged into, read over SNMPv3.',
  examples: switchExamples,
};

export const switchRoutes = routes('/staff/switches', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listSwitches',
      summary: 'List switches',
      description: 'Each with what came of reading it last.',
      query: S.SwitchQuery,
      data: S.SwitchList,
    },
    (ctx, req) => listSwitches(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addSwitch',
      summary: 'Add switch',
      description:
        'Writes down how a switch is reached and has it read; `check` tells what came of it. From then on it is read every five minutes.',
      body: S.NewSwitch,
      data: S.SwitchData,
      errors: ['conflict'],
    },
    (ctx, req) => addSwitch(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...one,
      operation: 'getSwitch',
      summary: 'Get switch',
      description: 'One switch; poll it while its `check` is `checking`.',
      data: S.SwitchData,
      errors: ['not_found'],
      // What is read of it goes on changing while somebody decides how it is reached.
      etag: { without: ['check', 'description', 'isolation', 'heard_at', 'ports'] },
    },
    (ctx, req) => readSwitch(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'changeSwitch',
      summary: 'Change switch',
      description:
        'Changes what the body names. At another address its credential is given anew, since the one that is kept goes nowhere else.',
      body: S.SwitchChange,
      data: S.SwitchData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockSwitch(tx, req.params.id),
    },
    (ctx, req) => changeSwitch(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/check',
    {
      ...one,
      operation: 'checkSwitch',
      summary: 'Read a switch once more',
      description: 'Reads its ports now. Nothing of it is changed.',
      data: S.SwitchData,
      errors: ['not_found'],
    },
    (ctx, req) => checkSwitch(ctx, req.params.id),
  );
  route.delete(
    '/:id',
    {
      ...one,
      operation: 'removeSwitch',
      summary: 'Remove switch',
      description: 'Possible while no server is plugged in. Nothing of it is changed.',
      data: Nothing,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockSwitch(tx, req.params.id),
    },
    (ctx, req) => removeSwitch(ctx, req.params.id),
  );
  route.get(
    '/:id/ports',
    {
      ...one,
      operation: 'listSwitchPorts',
      summary: 'List the ports of a switch',
      description:
        'As they were read last, with what is plugged into each and what went through it since the reading before.',
      query: S.SwitchPortQuery,
      data: S.SwitchPortList,
      errors: ['not_found'],
    },
    (ctx, req) => listSwitchPorts(ctx, req.params.id, req.query),
  );
  route.post(
    '/:id/plug',
    {
      ...one,
      operation: 'plugSwitchPort',
      summary: 'Say what is plugged into a port',
      description:
        'By the MAC of the port of a server. One that was plugged in elsewhere is there no longer.',
      body: S.Plug,
      data: S.SwitchPortData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => plugSwitchPort(ctx, req.params.id, req.body),
  );
});
