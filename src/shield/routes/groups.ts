import { type Declarations, Nothing } from '../../platform/http/index.ts';
import { deleteGroup, lockGroup, readGroup } from '../groups/groups.ts';
import { listPresets, makeGroup } from '../presets/make.ts';
import * as S from '../schema.ts';
import { manages, prefix, reads, warned } from './access.ts';

/** Presets, and the groups of rules that they make. */
export function groupRoutes(route: Declarations): void {
  route.get(
    '/rules/group/:id',
    {
      ...reads,
      operation: 'getShieldGroup',
      summary: 'Get group',
      description: 'The rules that a preset made.',
      params: S.SmallIdParams,
      data: S.GroupData,
      errors: ['not_found'],
      etag: { without: ['matched_packets', 'counters', 'enforced'] },
    },
    (ctx, req) => readGroup(ctx, req.params.id),
  );
  route.delete(
    '/rules/groups/:id',
    {
      ...manages,
      operation: 'deleteShieldGroup',
      summary: 'Delete group',
      description: 'Takes away all rules that a preset made.',
      params: S.SmallIdParams,
      data: Nothing,
      errors: ['not_found'],
      shownAt: `${prefix}/rules/group/:id`,
      lock: (tx, req) => lockGroup(tx, req.params.id),
    },
    (ctx, req) => deleteGroup(ctx, req.params.id),
  );
  route.get(
    '/rules/presets',
    {
      ...reads,
      operation: 'listShieldPresets',
      summary: 'List presets',
      description: 'Rules that are made together, what each is for, and of which day its lists are.',
      data: S.PresetList,
    },
    () => listPresets(),
  );
  route.post(
    '/rules/presets',
    {
      ...manages,
      operation: 'createShieldGroup',
      summary: 'Use preset',
      description:
        'Makes the rules of a preset for addresses of yours, as a group. With `id` that group is made anew, from the lists as ' +
        'they are now.',
      body: S.NewGroup,
      data: S.GroupMade,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
    },
    async (ctx, req) => warned(await makeGroup(ctx, req.body)),
  );
}
