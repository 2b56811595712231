import { fileTypeFromBuffer } from 'file-type';
import { endingOf } from './name.ts';

/** So much of a file is looked at to know what it is. */
export const headBytes = 65_536;

const plainText = 'text/plain';
export const unknownType = 'application/octet-stream';

/** What a file is, by its first bytes, whatever anybody says of it. */
export async function typeOf(head: Buffer, isWhole: boolean): Promise<string> {
  // What breaks its reader off is broken itself, and of no type.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  // Of a text with angle brackets nothing is made but a text.
  if (found?.mime === 'application/xml') return plainText;
  return found?.mime ?? (isText(head, isWhole) ? plainText : unknownType);
}

function isText(head: Buffer, isWhole: boolean): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Files that are taken for each other are of one family: a photo stays a photo, whichever way it is packed. */
type Family = 'image' | 'media' | 'pdf' | 'zip' | 'office' | 'archive' | 'program' | 'text';

const endings: Record<Family, readonly string[]> = {
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'bmp', 'tif', 'tiff', 'heic', 'heif', 'avif', 'ico', 'psd'],
  media: [
    ...['mp3', 'm4a', 'wav', 'ogg', 'oga', 'ogv', 'opus', 'flac', 'aac'],
    ...['mp4', 'm4v', 'mov', 'webm', 'mkv', 'avi', 'mpg', 'mpeg'],
  ],
  pdf: ['pdf'],
  zip: ['zip', 'docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'jar', 'apk', 'epub'],
  office: ['doc', 'xls', 'ppt', 'msg'],
  archive: ['gz', 'tgz', 'bz2', 'xz', '7z', 'rar', 'zst', 'tar'],
  program: ['exe', 'dll', 'elf', 'so'],
  text: [
    'txt',
    'log',
    'csv',
    'json',
    'yml',
    'yaml',
    'md',
    'html',
    'htm',
    'svg',
    'xml',
    'conf',
    'ini',
    'sh',
    'pem',
  ],
};
const familyOfEnding = new Map(
  Object.entries(endings).flatMap(([family, all]) => all.map((ending) => [ending, family as Family])),
);

const familyOfType: readonly (readonly [RegExp, Family])[] = [
  [/^(image\/svg\+xml|text\/.*|application\/(json|xml|javascript|x-yaml|x-sh))$/, 'text'],
  [/^image\/.*$/, 'image'],
  [/^(audio|video)\/(?!mp2t$).*$/, 'media'],
  [/^application\/(ogg|x-matroska)$/, 'media'],
  [/^application\/(pdf|x-pdf)$/, 'pdf'],
  [
    /^application\/(zip|x-zip-compressed|java-archive|epub\+zip|vnd\.(oasis|openxmlformats|android).*)$/,
    'zip',
  ],
  [/^application\/(x-cfb|msword)$/, 'office'],
  [/^application\/(x-)?(gzip|bzip2|xz|7z-compressed|rar-compressed|rar|zstd|tar|gtar|compress)$/, 'archive'],
  [
    /^application\/(x-msdownload|x-dosexec|x-elf|x-mach-binary|vnd\.microsoft\.portable-executable)$/,
    'program',
  ],
];

/** Null where a type says nothing that could be held against a file: it is unknown, or said of anything. */
function familyOf(type: string): Family | null {
  const plain = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return familyOfType.find(([form]) => form.test(plain))?.[1] ?? null;
}

/** What each family's files may really be. Old office files are, as often as not, of another kind inside. */
const alsoIs: Partial<Record<Family, readonly Family[]>> = { office: ['text', 'zip'], zip: ['office'] };

/**
 * Why a file is not what it is said to be, in words; null where nothing speaks against it. A name or a type that could be
 * anything's says nothing.
 */
export function lieOf(
  type: string,
  said: { name: string; claimedType?: string | null | undefined },
): string | null {
  const ending = endingOf(said.name);
  const byName = familyOfEnding.get(ending);
  if (byName !== undefined && !isOf(byName, type)) return `is called .${ending}, and is none`;
  const claimed = said.claimedType ?? '';
  const byClaim = familyOf(claimed);
  if (byClaim !== null && !isOf(byClaim, type)) return `is said to be ${claimed.slice(0, 100)}, and is not`;
  return null;
}

function isOf(family: Family, type: string): boolean {
  const is = familyOf(type);
  // Bytes that nobody knows may be a text in an old alphabet.
  if (is === null) return type === unknownType && family === 'text';
  return is === family || (alsoIs[family]?.includes(is) ?? false);
}
