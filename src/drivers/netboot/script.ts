/** What a server that starts from the network is to start. */
export type BootAnswer =
  /** What is installed on it. */
  | { start: 'disk' }
  /** Our system in memory: to be installed, wiped or looked at, or as a customer's rescue system. Which of these its plan says. */
  | { start: 'installer' | 'rescue'; token: string };

/** Where the installer is, and whom it calls. */
export interface BootPlaces {
  /** Of this room's files, without TLS: `…/kernel`, `…/initrd`. */
  files: string;
  /** Of the installer's calls, over TLS. */
  calls: string;
  /** The key that answers there: `sha256//` and its hash in Base64, as curl pins it. */
  key: string;
  /** The serial line that the BMC carries, by the kernel's name. Default: `ttyS0`. */
  serial?: string;
}

/** Drives that a BIOS may have; iPXE goes on to the next where one does not start. */
const drives = ['0x80', '0x81', '0x82', '0x83', '0x84', '0x85', '0x86', '0x87'];

/**
 * The script that iPXE gets. "Your disk" tries each one, since some BIOSes give up with the first; UEFI goes on with its own list
 * where what it started says that it failed, and stays in its menu otherwise.
 */
export function bootScript(answer: BootAnswer, { files, calls, key, serial = 'ttyS0' }: BootPlaces): string {
  if (answer.start === 'disk') {
    const tries = drives.map((drive) => `sanboot --no-describe --drive ${drive}`);
    return `#!ipxe\niseq \${platform} pcbios || exit 1\n${tries.join(' || ')} || exit\n`;
  }
  const words = { url: calls, token: answer.token, key, serial, mac: `\${net0/mac}` };
  const said = Object.entries(words).map(([name, value]) => `innkeeper.${name}=${value}`);
  const line = ['initrd=initrd', 'console=tty0', `console=${serial},115200`, 'quiet', ...said].join(' ');
  return `#!ipxe\nkernel ${files}/kernel ${line}\ninitrd --name initrd ${files}/initrd\nboot\n`;
}
