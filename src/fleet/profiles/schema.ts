import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { Baseline, NewBaseline } from '../baselines/schema.ts';
import { Note } from '../racks/schema.ts';

const Count = Type.Integer({ minimum: 0 });
const Name = line(64, { examples: ['AX-16'] });
const Threads = Type.Integer({
  minimum: 1,
  maximum: 4_096,
  description: 'Of all its processors together',
  examples: [16],
});
const MemoryGib = Type.Integer({
  minimum: 1,
  maximum: 65_536,
  description: 'As its modules are sold',
  examples: [64],
});
const Model = line(100, {
  description: 'What its maker calls it, in whatever letters',
  examples: ['PowerEdge R6515'],
});
const PortMbps = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description:
    'What the port that it starts from the network with, to which its addresses go, and the switch have agreed on, in Mbit/s; of a port that does not say it, what the switch says',
  examples: [10_000],
});
const DiskRule = named(
  'ServerDiskRule',
  Strict({
    kind: Choice(['nvme', 'ssd', 'hdd']),
    gb: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Thousand millions of bytes, as disks are sold; a disk may differ by three in a hundred',
      examples: [960],
    }),
    count: Type.Integer({ minimum: 1, maximum: 256, examples: [2] }),
  }),
);
const Disks = Type.Array(DiskRule, {
  maxItems: 16,
  description: 'Every disk that it has; an empty list: it has none',
});

export const Profile = named(
  'ServerProfile',
  Type.Object({
    id: Id,
    name: Type.String(),
    threads: Nullable(Threads),
    memory_gib: Nullable(MemoryGib),
    model: Nullable(Type.String()),
    disks: Nullable(Disks),
    port_mbps: Nullable(PortMbps),
    product_id: Nullable({ ...Id, description: 'What its servers are sold as; null: nothing' }),
    product: Nullable(Type.String({ description: 'The name of that product' })),
    note: Nullable(Type.String()),
    baseline: Nullable(Baseline),
    baseline_from: Nullable(
      Type.String({ description: 'The server that it was taken from; null: it was written by hand' }),
    ),
    baseline_at: Nullable(Timestamp),
    servers: { ...Count, description: 'How many servers fit it best, without those that are retired' },
    ready: { ...Count, description: 'How many of them are in stock' },
    created_at: Timestamp,
  }),
  'What a server has to have to be sold as one thing; what is null may be anything',
);
export const ProfileData = named('ServerProfileAnswer', Type.Object({ profile: Profile }));
export const ProfileList = named('ServerProfileList', listOf('profiles', Profile));
export const ProfileQuery = ListQuery({ sort: SortBy(['id', 'name'], 'name') });
const rules = {
  threads: Type.Optional(Nullable(Threads)),
  memory_gib: Type.Optional(Nullable(MemoryGib)),
  model: Type.Optional(Nullable(Model)),
  disks: Type.Optional(Nullable(Disks)),
  port_mbps: Type.Optional(Nullable(PortMbps)),
  product_id: Type.Optional(
    Nullable({
      ...Id,
      description: 'A dedicated product, of which the ready servers that have this profile are the stock',
    }),
  ),
  note: Type.Optional(Nullable(Note)),
  baseline: Type.Optional(Nullable(NewBaseline)),
};
const confirm = Type.Optional(
  line(64, {
    description:
      'The name of the profile, where servers are sold as what they were no more by it: you know which ones, and what is left in stock',
  }),
);
export const NewProfile = named('NewServerProfile', Strict({ name: Name, ...rules, confirm }));
export const ProfileChange = named(
  'ServerProfileChange',
  Strict({ name: Type.Optional(Name), ...rules, confirm }),
);
export const ProfileRemoval = Strict({ confirm });
