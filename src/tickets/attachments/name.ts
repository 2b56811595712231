/** Names that Windows keeps for devices, whatever their ending. */
const devices = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;
const mostBytes = 200;

/**
 * A name under which a file can be saved anywhere, and that looks like what it is: without a path, without characters that no
 * one sees or that turn the direction of reading, and none that a system keeps for itself. What is left of nothing is
 * `attachment`.
 */
export function cleanName(name: string): string {
  const last = name.toWellFormed().normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    // The two joiners are letters' own in some alphabets, and hold families of emoji together.
    .replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\ufffd]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
    .replace(/[. ]+$/, '');
  const short = shortened(plain);
  if (short === '') return 'attachment';
  const [stem = ''] = short.split('.', 1);
  return devices.test(stem.trim()) ? `_${short}` : short;
}

/** What the name ends with, in small letters; empty when it says nothing. */
export function endingOf(name: string): string {
  return /[^.]\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** The ending stays: it says what the file is. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= mostBytes) return name;
  const ending = endingOf(name) === '' ? '' : `.${endingOf(name)}`;
  let stem = '';
  const room = mostBytes - ending.length;
  for (const { segment } of new Intl.Segmenter().segment(name.slice(0, name.length - ending.length))) {
    if (Buffer.byteLength(stem + segment) > room) break;
    stem += segment;
  }
  return `${stem.replace(/[. ]+$/, '')}${ending}`;
}
