import type { Declarations } from '../../platform/http/index.ts';
import { changeSensitivity, lockSensitivity, readSensitivity } from '../addresses/sensitivity.ts';
import * as S from '../schema.ts';
import { manages, reads } from './access.ts';

/** From where on traffic is an attack, and what is done about it. */
export function sensitivityRoutes(route: Declarations): void {
  route.get(
    '/sensitivity/:ip',
    {
      ...reads,
      operation: 'getSensitivity',
      summary: 'Get sensitivity',
      description:
        'From where on traffic to an address counts as an attack, what is done about it, and whose word that is.',
      params: S.IpParams,
      data: S.SensitivityData,
      // What usually comes is learned anew each day.
      etag: { without: ['usual', 'limits'] },
    },
    (ctx, req) => readSensitivity(ctx, req.params.ip),
  );
  route.patch(
    '/sensitivity/:ip',
    {
      ...manages,
      operation: 'updateSensitivity',
      summary: 'Change sensitivity',
      description: 'Sets what is named; what is null goes by the product again, or is as for all others.',
      params: S.IpParams,
      body: S.SensitivityChange,
      data: S.SensitivityData,
      lock: (tx, req) => lockSensitivity(tx, req.params.ip),
    },
    (ctx, req) => changeSensitivity(ctx, req.params.ip, req.body),
  );
}
