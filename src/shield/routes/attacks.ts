import { answer, type Declarations, IdParams } from '../../platform/http/index.ts';
import { listAttacks, readAttack } from '../attacks/list.ts';
import { releaseMitigation } from '../mitigation/release.ts';
import * as S from '../schema.ts';
import { manages, reads } from './access.ts';

/** Attacks, and what is done against them. */
export function attackRoutes(route: Declarations): void {
  route.get(
    '/attacks',
    {
      ...reads,
      operation: 'listShieldAttacks',
      summary: 'List attacks',
      description:
        'Attacks on your addresses, the newest first. The first chunk has besides all that go on or ended within ten minutes, so that ' +
        'whoever asks once a minute misses none.',
      query: S.AttackQuery,
      data: S.AttackList,
      errors: ['page_too_deep'],
    },
    (ctx, req) => listAttacks(ctx, req.query),
  );
  route.get(
    '/attacks/:id',
    {
      ...reads,
      operation: 'getShieldAttack',
      summary: 'Get attack',
      description:
        'One attack, and what was most frequent in it: ports, lengths and senders of the packets of its kind, and the networks (AS) and ' +
        'countries that those are registered in, of which senders may be false. It is estimated from samples, and empty where the edge ' +
        'of the machine takes none, or where no tables of networks are installed. `notices` says whose data the names are.',
      params: IdParams,
      data: S.AttackData,
      beside: S.noticed,
      errors: ['not_found'],
    },
    async (ctx, req) => {
      const { data, notices } = await readAttack(ctx, req.params.id);
      return answer(data, {}, { notices });
    },
  );
  route.post(
    '/mitigations/:id/release',
    {
      ...manages,
      operation: 'releaseShieldMitigation',
      summary: 'Release mitigation',
      description:
        'Takes away what is done against an attack; within seconds, and for as long as that attack goes on. What is released already stays so.',
      params: IdParams,
      data: S.MitigationData,
      errors: ['not_found'],
    },
    (ctx, req) => releaseMitigation(ctx, req.params.id),
  );
}
