import { Type } from 'typebox';
import { Choice, Id, line, Nullable, named, Strict } from '../../platform/http/index.ts';
import { accesses, bootSources } from './compare.ts';

const Version = line(100, { examples: ['2.14.0'] });
const BootSource = Choice(bootSources);
const Access = Choice(accesses);
const Suite = Type.Integer({ minimum: 0, maximum: 255 });

const about = {
  disk_firmware: 'By model; of one that is not named nothing is compared',
  boot_order:
    'What its UEFI starts, in order, where several of one kind in a row are one. BIOS shows it to nobody',
  bmc_users:
    'Those who may sign in at its BMC besides us, with what they may do at most. When a server comes back all of them are shut out, so one who is missing is no difference',
  cipher_suites: 'Of IPMI, that its BMC opens; 0 is among them where it was tried and let us in',
  services: 'Of its BMC on its network, as Redfish calls them; IPMI tells nobody',
};

const parts = {
  firmware: Version,
  boot: Choice(['bios', 'uefi']),
  bmc_firmware: Version,
  disk_firmware: Type.Array(
    Strict({
      model: line(100, { examples: ['MZQL2960HCJR'] }),
      version: line(100, { examples: ['GDC5602Q'] }),
    }),
    { maxItems: 64, description: about.disk_firmware },
  ),
  boot_order: Type.Array(BootSource, {
    maxItems: 64,
    description: about.boot_order,
    examples: [['network', 'disk']],
  }),
  bmc_users: Type.Array(
    Strict({
      name: Type.String({
        maxLength: 100,
        pattern: '^[^\\u0000-\\u001f\\u007f]*$',
        'x-message': 'must be one line, without control characters',
        description: 'Empty: whoever gives no name',
        examples: ['ADMIN'],
      }),
      access: Access,
    }),
    { maxItems: 64, description: about.bmc_users },
  ),
  cipher_suites: Type.Array(Suite, {
    maxItems: 64,
    description: about.cipher_suites,
    examples: [[3, 17]],
  }),
  services: Type.Array(line(100, { examples: ['HTTPS'] }), {
    maxItems: 100,
    description: about.services,
    examples: [['HTTPS', 'IPMI']],
  }),
};

export const Baseline = named(
  'ServerBaseline',
  Type.Object({
    firmware: Nullable(Type.String({ description: 'The maker’s version of its BIOS or UEFI' })),
    boot: Nullable(parts.boot),
    bmc_firmware: Nullable(Type.String()),
    disk_firmware: Nullable(
      Type.Array(Type.Object({ model: Type.String(), version: Type.String() }), {
        description: about.disk_firmware,
      }),
    ),
    boot_order: Nullable(Type.Array(BootSource, { description: about.boot_order })),
    bmc_users: Nullable(
      Type.Array(Type.Object({ name: Type.String(), access: Access }), {
        description: about.bmc_users,
      }),
    ),
    cipher_suites: Nullable(Type.Array(Type.Integer(), { description: about.cipher_suites })),
    services: Nullable(Type.Array(Type.String(), { description: about.services })),
  }),
  'How a server is beside what it has, or has to be. What is null nobody can read of it, or may be anything',
);

const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(Nullable(schema));

export const NewBaseline = named(
  'NewServerBaseline',
  Strict({
    firmware: optional(parts.firmware),
    boot: optional(parts.boot),
    bmc_firmware: optional(parts.bmc_firmware),
    disk_firmware: optional(parts.disk_firmware),
    boot_order: optional(parts.boot_order),
    bmc_users: optional(parts.bmc_users),
    cipher_suites: optional(parts.cipher_suites),
    services: optional(parts.services),
  }),
  'How servers of a profile have to be when they are enrolled and come back, given whole; one that differs is kept out of stock until that is accepted. What is left out or null may be anything',
);

export const TakenBaseline = named(
  'TakenServerBaseline',
  Strict({ server_id: { ...Id, description: 'A server in stock that has this profile' } }),
);

export const Acceptance = named(
  'ServerDifferencesAcceptance',
  Strict({
    as_baseline: Type.Optional(
      Type.Boolean({
        description: 'How the server is becomes the baseline of its profile, too; default: false',
      }),
    ),
  }),
);
