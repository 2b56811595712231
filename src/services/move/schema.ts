import { Type } from 'typebox';
import { Id, named, Strict } from '../../platform/http/index.ts';

export const Move = named('ServiceMove', Strict({ organization_id: Id }));
export const MoveData = named('ServiceMoved', Type.Object({ moved: Type.Boolean(), organization_id: Id }));
