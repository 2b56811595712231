import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface ToldIpmitool {
  /** A folder for PATH, in which this is `ipmitool`. */
  dir: string;
  /** The suites that it was told to speak, in order. */
  suites(): number[];
  /** The arguments of all its calls, a line each. */
  argued(): string;
  /** Forgets them. */
  forget(): void;
  /** From now on it knows these. */
  knows(...suites: number[]): void;
  /** From now on this password alone opens it; null: any does. */
  letsIn(password: string | null): void;
  close(): void;
}

/**
 * Stands where `ipmitool` does: it writes down which cipher suite it was told to speak, and refuses those that it does not know in the words of the real one. It
 * knows what a chassis says, a server that is on, and prints the password that it was given wherever it refuses: nobody should pass that on.
 */
export function toldIpmitool(): ToldIpmitool {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-ipmitool-'));
  const file = (name: string) => path.join(dir, name);
  mkdirSync(file('bin'));
  writeFileSync(file('bin/ipmitool'), script(dir), { mode: 0o755 });
  const told: ToldIpmitool = {
    dir: file('bin'),
    suites: () =>
      existsSync(file('told')) ? readFileSync(file('told'), 'utf8').trim().split('\n').map(Number) : [],
    argued: () => readFileSync(file('argued'), 'utf8'),
    forget: () => rmSync(file('told'), { force: true }),
    knows: (...suites) => writeFileSync(file('knows'), suites.join(' ')),
    letsIn: (password) =>
      password === null
        ? rmSync(file('password'), { force: true })
        : writeFileSync(file('password'), password),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
  told.knows(3, 17);
  return told;
}

const script = (dir: string) => `#!/bin/sh
printf '%s\\n' "$*" >> '${dir}/argued'
suite=
bytes=
previous=
for each in "$@"; do
  [ "$previous" = -C ] && suite=$each
  case $each in 0x*) bytes="$bytes $each" ;; esac
  previous=$each
done
echo "$suite" >> '${dir}/told'
known=no
for each in $(cat '${dir}/knows'); do [ "$each" = "$suite" ] && known=yes; done
if [ $known = no ]; then
  echo "with $IPMI_PASSWORD: Error in open session response message : no matching cipher suite" >&2
  exit 1
fi
if [ -f '${dir}/password' ] && [ "$IPMI_PASSWORD" != "$(cat '${dir}/password')" ]; then
  echo "> RAKP 2 message indicates an error : unauthorized name, with $IPMI_PASSWORD" >&2
  exit 1
fi
case $bytes in
  ' 0x0 0x1') echo ' 01 00 00' ;;
  ' 0x6 0x1') echo ' 20 01 09 08 02 bf 00 00 00 00 00' ;;
  *) echo "Unable to send RAW command (channel=0x0 rsp=0xc1): Invalid command, with $IPMI_PASSWORD" >&2; exit 1 ;;
esac
`;
