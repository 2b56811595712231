import type { Sheet, SheetPart } from '../../billing/index.ts';
import type { ErasureProof, KeptProof } from './proof.ts';
import { type ProofTexts, proofTexts } from './sheetTexts.ts';

/** A proof of erasure as it is printed. `signed`: what goes with it as a file, and where its key is. */
export function sheetOf(
  erasure: ErasureProof,
  signed: (Pick<KeptProof, 'jws' | 'keyId'> & { keysUrl: string }) | null,
  language: 'en' | 'de',
): Sheet {
  const say = proofTexts[language];
  const { system, disks } = erasure;
  const model = system === null ? '–' : [system.vendor, system.product].filter(Boolean).join(' ');
  return {
    ...{ language, title: say.title, at: new Date(erasure.ended_at) },
    parts: [
      {
        heading: null,
        facts: [
          [say.service, `${erasure.service_id} · ${erasure.hostname}`],
          [say.server, model],
          [say.serial, system?.serial ?? '–'],
          [say.began, moment(erasure.began_at)],
          [say.ended, moment(erasure.ended_at)],
          [say.disks, String(disks.length)],
        ],
        texts: [say.about],
      },
      ...disks.map((disk, at) => partOf(disk, say, at + 1, disks.length)),
      signed === null
        ? { heading: null, facts: [], texts: [say.unsigned] }
        : {
            heading: say.signature,
            facts: [
              [say.key, signed.keyId],
              [say.keys, signed.keysUrl],
            ],
            texts: [say.signed],
          },
    ],
    files:
      signed === null
        ? []
        : [{ name: 'erasure.jws', type: 'application/jose', description: say.file, text: signed.jws }],
  };
}

function partOf(disk: ErasureProof['disks'][number], say: ProofTexts, nth: number, of: number): SheetPart {
  const { method } = disk;
  return {
    heading: say.disk(nth, of),
    facts: [
      [say.model, disk.model ?? '–'],
      [say.serial, disk.serial],
      [say.size, say.bytes(disk.bytes)],
      [say.method, method === null ? '–' : `${say.methods[method] ?? method} (${method})`],
      [say.drive, say.driveStatus[disk.drive_status ?? 'unknown']],
      [say.samples, say.marks(disk.marks, disk.marks_left, disk.not_zero)],
      [say.tried, disk.tried.map(({ method, exit }) => say.exit(method, exit)).join('; ')],
      [say.began, moment(disk.began_at)],
      [say.ended, moment(disk.ended_at)],
    ],
    texts: [],
  };
}

/** `2026-06-30 00:08:02 UTC`: what is proved is read anywhere. */
function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
