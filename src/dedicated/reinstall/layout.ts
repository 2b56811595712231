import {
  type layoutOf,
  reasonAgainstMirror,
  type ServerDisk,
  type ServerSystem,
  usualLayoutOf,
} from '../../fleet/index.ts';
import { type ErrorDetail, fail } from '../../platform/index.ts';

/** Where a system is to go. */
export interface WantedDisks {
  layout: 'single' | 'raid1';
  /** Absent: as {@link layoutOf} chooses. */
  serials?: string[] | undefined;
}

type Layout = NonNullable<ReturnType<typeof layoutOf>>;

/** What is to go there. */
interface Installed {
  system: ServerSystem;
  slug: string;
  minDiskGib: number;
}

/** Where a system goes on these disks. `invalid_request` where that cannot be, by what there is; `invalid_configuration` where no disk was measured. */
export function chooseLayout(
  disks: readonly ServerDisk[],
  wanted: WantedDisks | undefined,
  installed: Installed,
): Layout {
  const layout = layoutOn(disks, wanted, installed);
  requireRoom(disks, layout, installed);
  return layout;
}

/** The image of a disk is as long as it is: a disk that is too short for it is seen before anything is begun. */
function requireRoom(
  disks: readonly ServerDisk[],
  { serials }: Layout,
  { system, slug, minDiskGib }: Installed,
) {
  if (system.kind === 'tree') return;
  const small = disks.find(
    ({ serial, bytes }) => serials.includes(serial) && bytes !== null && bytes < minDiskGib * 2 ** 30,
  );
  if (small !== undefined)
    throw refused(
      'disks.serials',
      `${slug} needs a disk of ${minDiskGib} GiB, and ${small.serial} is smaller`,
    );
}

function layoutOn(
  disks: readonly ServerDisk[],
  wanted: WantedDisks | undefined,
  { system, slug }: Installed,
): Layout {
  const usual = usualLayoutOf(system, disks);
  if (usual === null)
    throw fail('invalid_configuration', {
      message: 'No disk of this server was measured: ask our staff in a ticket',
    });
  if (wanted === undefined) return usual;
  const { layout: kind, serials } = wanted;
  const against = kind === 'raid1' ? reasonAgainstMirror(system) : null;
  if (against !== null) throw refused('disks.layout', `raid1 is nothing for ${slug}: ${against}`);
  if (serials !== undefined) return ofSerials(disks, kind, serials);
  if (kind === 'single') return { kind, serials: usual.serials.slice(0, 1) };
  if (usual.kind === 'raid1') return usual;
  throw refused(
    'disks.layout',
    `raid1 takes two disks of one kind and size, and no two of these are alike: ${namesOf(disks)}`,
  );
}

function ofSerials(disks: readonly ServerDisk[], kind: Layout['kind'], serials: string[]): Layout {
  const strange = serials.filter((serial) => disks.every((disk) => disk.serial !== serial));
  if (strange.length > 0)
    throw refused(
      'disks.serials',
      `there is no disk ${strange.join(', ')} in this server; there are ${namesOf(disks)}`,
    );
  if (new Set(serials).size !== serials.length) throw refused('disks.serials', 'a disk is named twice');
  if (kind === 'single' && serials.length !== 1) throw refused('disks.serials', 'single takes one disk');
  if (kind === 'raid1' && serials.length < 2) throw refused('disks.serials', 'raid1 takes two disks or more');
  return { kind, serials };
}

function namesOf(disks: readonly ServerDisk[]): string {
  return disks.map(({ serial, model }) => `${serial} (${model ?? 'of an unknown model'})`).join(', ');
}

function refused(field: ErrorDetail['field'], message: string) {
  return fail('invalid_request', { details: [{ field, message }] });
}
