import { type Declarations, Nothing } from '../../platform/http/index.ts';
import { changeIp, listIps, lockIp } from '../addresses/ips.ts';
import { readIp } from '../addresses/read.ts';
import * as S from '../schema.ts';
import { manages, reads } from './access.ts';

/** Addresses, and the names that DNS has for them. */
export function addressRoutes(route: Declarations): void {
  route.get(
    '/ips',
    {
      ...reads,
      operation: 'listShieldIps',
      summary: 'List addresses',
      description: 'The addresses that your machines have, as networks.',
      query: S.PageQuery,
      data: S.IpList,
      errors: ['page_too_deep'],
      etag: { without: ['recent', 'rules', 'shield', 'hostname'] },
    },
    (ctx, req) => listIps(ctx, req.query),
  );
  route.get(
    '/ips/:ip',
    {
      ...reads,
      operation: 'getShieldIp',
      summary: 'Get address',
      description:
        'One address with all that is for it: its rules in the order in which they are looked at, what presets made of them, what is ' +
        'tried out, and the attack that goes on.',
      params: S.IpParams,
      data: S.IpData,
    },
    (ctx, req) => readIp(ctx, req.params.ip),
  );
  route.patch(
    '/ips',
    {
      ...manages,
      operation: 'updateShieldIp',
      summary: 'Change address',
      description:
        'Sets or takes away the name that reverse DNS gives for an address, and says what becomes of packets to it that no rule matches.',
      body: S.IpChange,
      data: Nothing,
      errors: ['invalid_domain', 'not_supported', 'action_not_allowed', 'not_found'],
      drivers: ['dns'],
      lock: (tx, req) => lockIp(tx, req.body),
    },
    (ctx, req) => changeIp(ctx, req.body, req.drivers.dns),
  );
}
