import { Type } from 'typebox';
import {
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  Search,
  SortBy,
  Timestamp,
} from '../../platform/http/index.ts';

export const Disk = named(
  'StaffErasedDisk',
  Type.Object({
    id: Id,
    proof_id: { ...Id, description: 'Of the proof that says so; it has all disks of the server' },
    serial: Type.String(),
    model: Nullable(Type.String()),
    bytes: Type.Integer({ minimum: 0 }),
    method: Nullable(Type.String()),
    ended_at: Timestamp,
    server_id: Id,
    server: Type.String({ description: 'What the server was called then' }),
    service_id: { ...Id, description: 'Of the service that had had it' },
    organization_id: Id,
  }),
  'A disk of which a proof says that it was wiped',
);
export const DiskList = named('StaffErasedDiskList', listOf('disks', Disk));
export const DiskQuery = ListQuery({
  server_id: Type.Optional(Id),
  service_id: Type.Optional(Id),
  search: Search('Finds serial numbers that begin with this, in their order; `sort` is left out of account'),
  sort: SortBy(['ended_at'], '-ended_at'),
});
