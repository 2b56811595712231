import { Type } from 'typebox';
import { Server } from '../../fleet/index.ts';
import { line, Nullable, named, Strict } from '../../platform/http/index.ts';
import { KeyIds, Password } from '../../vps/index.ts';

export const StaffRescue = named(
  'ServerRescue',
  Strict({
    enabled: Type.Boolean(),
    password: Type.Optional({ ...Password, description: 'Default: one is generated' }),
    ssh_key_ids: Type.Optional({ ...KeyIds, description: 'Default: all keys of your account' }),
    reason: Type.Optional(line(300, { examples: ['Its memory is to be tested'] })),
  }),
);

export const StaffRescueData = named(
  'ServerRescueAnswer',
  Type.Object({
    server: Server,
    password: Nullable(Type.String({ description: 'Of root, where it was generated: in this answer alone' })),
  }),
);
