import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureUnpacked, surroundings } from '../../../test/unpacked.ts';
import type { Wiped } from './report.ts';

/**
 * The installer's scripts as they run, in the shell that they run in, beside programs that stand in for those that speak to drives. A drive is a file and what it
 * is told stands in others beside it; what the programs print is word for word what those of Debian 12 print (nvme-cli 2.3, hdparm 9.65, smartmontools 7.3), as
 * they did when their system calls were answered by a drive that was made up.
 */
export interface ScriptBed {
  dir: string;
  disk: string;
  /** What the drive is, or does, from now on; see {@link Drive}. */
  set(drive: Partial<Drive>): Promise<void>;
  get(what: keyof Drive): Promise<string>;
  /** What the programs were called with, in order. */
  calls(): Promise<string[]>;
  /** What was sent to the product: the call and its body, parsed, or the text that is no JSON. */
  sent(): Promise<{ call: string; body: unknown }[]>;
  run(script: string, ...args: string[]): Promise<Ended>;
  /** Runs `wipe`, which has to print one report. */
  wipe(): Promise<RawWiped & { exit: number }>;
  /** This stands for one of the scripts or programs, as text for the shell. */
  replace(name: string, text: string): Promise<void>;
  /** Seconds since it started, by its own count: what sleeps takes no time. */
  seconds(): Promise<number>;
  close(): Promise<void>;
}

export interface Ended {
  exit: number;
  stdout: string;
  stderr: string;
}

export interface RawWiped extends Pick<Wiped, 'serial' | 'bytes' | 'tried' | 'drive'> {
  method: string;
  marks: number;
  marks_left: number;
  not_zero: number;
}

export interface Drive {
  /** As its controller says: 1 crypto, 2 blocks, 4 overwriting. */
  sanicap: number;
  /** 2: it can be formatted. */
  oacs: number;
  /** 4: by throwing its key away as well. */
  fna: number;
  /** Of what format its blocks are. */
  flbas: number;
  /** 0 to 4, as its log says. */
  sanitized: number;
  /** So often it says that it sanitizes still. */
  left: number;
  /** What the sanitize under way does; numbers as of `nvme sanitize --sanact`. */
  doing: number;
  /** Actions of `nvme sanitize` that fail in the end, and those that it refuses, separated by blanks. */
  failing: string;
  refusing: string;
  /** After a sanitize that failed it does nothing; whether it may be let out of that. */
  isStuck: number;
  mayLeave: number;
  /** It knows no `--ause`. */
  isOld: number;
  /** Once it sanitizes its log cannot be read any more. */
  isMute: number;
  /** It says yes to whatever erases it, and keeps what it holds; `all`: to what is written as well. */
  keeps: '' | 'yes' | 'all';
  /** Once it was erased the kernel has nothing of it: whoever reads gets nothing, and no error. */
  shrinks: number;
  /** It fails when it is overwritten, after so many blocks of four mebibytes. */
  breaks: string;
  isLocked: number;
  isEnabled: number;
  isFrozen: number;
  hasNoSecurity: number;
  hasEnhanced: number;
  /** Its password is somebody else's. */
  isForeign: number;
  /** It refuses ATA's erasure, and keeps its password. */
  refusesErase: number;
  keepsPassword: number;
  isGone: number;
  /** The product does not answer so many times, or for ever. */
  isAway: number;
  /** The product refuses reports of this kind. */
  refused: string;
}

const bytes = 5 * 2 ** 20 + 512;

const shared = `
get() { cat "$DRIVE/$1" 2>/dev/null || echo "\${2-0}"; }
put() { printf '%s\\n' "$2" > "$DRIVE/$1"; }
says() { [ -e "$DRIVE/$1" ] && read -r said < "$DRIVE/$1" && [ "$said" = "$2" ]; }
is() { says "$1" 1; }
called() { printf '%s\\n' "$*" >> "$DRIVE/calls"; }
among() { case " $(get "$2") " in *" $1 "*) ;; *) return 1 ;; esac; }
erased() {
  [ -z "$(get keeps '')" ] || return 0
  ! is shrinks || { put isShrunk 1; return 0; }
  case $1 in 4) head -c ${bytes} /dev/urandom ;; *) head -c ${bytes} /dev/zero ;; esac > "$DISK"
}
`;

const nvme = `#!/bin/sh
. "$DRIVE/shared"
called nvme "$@"
refuse() { printf 'NVMe status: %s\\n' "$1" >&2; exit 1; }
invalid='Invalid Field in Command: A reserved coded value or an unsupported value in a defined field(0x2)'
busy='Sanitize In Progress: The requested function is prohibited while a sanitize operation is in progress(0x1d)'
zeros() { head -c "$1" /dev/zero; }
case $1 in
  id-ctrl) printf '{\\n  "vid":0,\\n  "sn":"SN1                 ",\\n  "oacs":%s,\\n  "sanicap":%s,\\n  "fna":%s\\n}\\n' "$(get oacs)" "$(get sanicap)" "$(get fna)" ;;
  id-ns) printf '{\\n  "nlbaf":1,\\n  "flbas":%s,\\n  "lbafs":[\\n    {\\n      "ms":0,\\n      "ds":9,\\n      "rp":0\\n    }\\n  ]\\n}\\n' "$(get flbas)" ;;
  format)
    [ "$(get sanitized)" != 2 ] || refuse "$busy"
    among format refusing && refuse "$invalid"
    case $* in *--ses=2*) erased 4 ;; *) erased 2 ;; esac
    echo 'Success formatting namespace:1' ;;
  sanitize)
    action=$(printf '%s\\n' "$@" | sed -n 's/^--sanact=//p')
    if [ -z "$action" ]; then while [ "$1" != -a ]; do shift; done; action=$2; fi
    [ "$(get sanitized)" != 2 ] || refuse "$busy"
    if [ "$action" = 1 ]; then is mayLeave || refuse "$invalid"; put isStuck 0; exit 0; fi
    among "$action" refusing && refuse "$invalid"
    case $* in *--ause*) is isOld && refuse "$invalid"; put mayLeave 1 ;; *) put mayLeave 0 ;; esac
    put sanitized 2; put doing "$action"; put left 2 ;;
  sanitize-log)
    [ "$(get sanicap)" != 0 ] || refuse "$invalid"
    [ "$(get sanitized)" = 2 ] && is isMute && refuse "$invalid"
    if [ "$(get sanitized)" = 2 ]; then
      if [ "$(get left)" -gt 0 ]; then put left $(($(get left) - 1))
      elif among "$(get doing)" failing; then put sanitized 3; put isStuck 1
      else put sanitized 1; put isStuck 0; erased "$(get doing)"
      fi
    fi
    state=$(get sanitized)
    case $state in
      0) words='NVM Subsystem has never been sanitized.' ;;
      1) words='Most Recent Sanitize Command Completed Successfully.' ;;
      2) words='Sanitize in Progress.' ;;
      3) words='Most Recent Sanitize Command Failed.' ;;
      4) words='Most Recent Sanitize Command (No-Deallocate After Sanitize) Completed Successfully.' ;;
    esac
    case $* in
      *json*)
        printf '{\\n  "nvme0":{\\n    "sprog":16384,\\n    "sstat":{\\n      "global_erased":0,\\n      "no_cmplted_passes":0,\\n      "status":"(%s) %s"\\n    },\\n' "$state" "$words"
        printf '    "cdw10_info":2,\\n    "time_over_write":-1,\\n    "time_block_erase":-1,\\n    "time_crypto_erase":-1\\n  }\\n}\\n'
        exit 0 ;;
      # It is erased as a whole by now (0x100), besides; what follows the log is what it prints after it, by a fault of its own.
      *raw-binary*) printf "\\000\\100\\00$state\\001\\002\\000\\000\\000"; zeros 504 ;;
    esac
    printf 'Sanitize Progress                      (SPROG) :  16384\\nSanitize Status                        (SSTAT) :  %#x\\n' "$state"
    printf 'Sanitize Command Dword 10 Information (SCDW10) :  0x2\\nEstimated Time For Overwrite                   :  4294967295 (No time period reported)\\n' ;;
esac
`;

const hdparm = `#!/bin/sh
. "$DRIVE/shared"
called hdparm "$@"
if [ "$1" = -I ]; then
  # Of what is no ATA drive it knows nothing.
  if is hasNoSecurity; then printf '\\n%s:\\n' "$2"; echo 'SG_IO: bad/missing sense data, sb[]:  70 00 05 00 00 00 00 0a' >&2; exit 0; fi
  prints() { if is "$1"; then printf '\\t\\t%s\\n' "$2"; else printf '\\tnot\\t%s\\n' "$2"; fi; }
  printf '\\n%s:\\n\\nATA device, with non-removable media\\n\\tModel Number:       FAKE SATA DRIVE                         \\n\\tSerial Number:      SN2                 \\n' "$2"
  printf 'Commands/features:\\n\\tEnabled\\tSupported:\\n\\t   *\\tSMART feature set\\n\\t    \\tSecurity Mode feature set\\nSecurity: \\n\\tMaster password revision code = 65534\\n\\t\\tsupported\\n'
  prints isEnabled enabled
  prints isLocked locked
  prints isFrozen frozen
  printf '\\tnot\\texpired: security count\\n'
  prints hasEnhanced 'supported: enhanced erase'
  is isEnabled && printf '\\tSecurity level high\\n'
  printf '\\t4min for SECURITY ERASE UNIT. 4min for ENHANCED SECURITY ERASE UNIT.\\n'
  exit 0
fi
printf 'security_password: "%s"\\n\\n%s:\\n' "$4" "$5"
command=$3
issues() {
  printf ' Issuing %s command, password="innkeeper", user=user%s\\n' "$1" "$2"
  [ "$3" = well ] || { echo "$1: Input/output error" >&2; exit 5; }
}
free() { is isFrozen || is isForeign || echo well; }
case $command in
  --security-set-pass) issues SECURITY_SET_PASS ', mode=high' "$(is isLocked || is hasNoSecurity || free)"; put isEnabled 1 ;;
  --security-unlock) issues SECURITY_UNLOCK '' "$(free)"; put isLocked 0 ;;
  --security-disable) issues SECURITY_DISABLE '' "$(is isLocked || is keepsPassword || free)"; put isEnabled 0 ;;
  --security-erase*) issues SECURITY_ERASE '' "$(is refusesErase || free)"; erased 2; put isEnabled 0; put isLocked 0 ;;
esac
`;

const dd = `#!/bin/sh
. "$DRIVE/shared"
for each in "$@"; do
  shift
  # Files of some systems cannot be read and written past their memory.
  case $each in oflag=direct | iflag=direct) ;; *) set -- "$@" "$each" ;; esac
done
case " $* " in *"=$DISK "*)
  if says sanitized 2 || is isStuck || is isLocked; then
    echo "dd: error reading or writing '$DISK': Input/output error" >&2
    exit 1
  fi
  case " $* " in *" if=/dev/zero "*" bs=4M "*) if [ -e "$DRIVE/breaks" ]; then
    head -c $((4194304 * $(get breaks))) /dev/zero | env PATH="$REAL" dd of="$DISK" bs=4M conv=notrunc 2>/dev/null
    echo "dd: error writing '$DISK': Input/output error" >&2
    exit 1
  fi ;; esac
  case " $* " in *" if=/dev/zero "*) ! says keeps all || exit 0 ;; esac
esac
if is isShrunk; then
  case " $* " in *" if=$DISK "*) exit 0 ;; *" of=$DISK "*) exit 1 ;; esac
fi
exec env PATH="$REAL" dd "$@"
`;

const others = {
  blockdev: `#!/bin/sh
. "$DRIVE/shared"
[ "$1" = --getsize64 ] || exit 0
is isGone && { echo "blockdev: cannot open $2: No such file or directory" >&2; exit 1; }
wc -c < "$2"
`,
  smartctl: `#!/bin/sh
printf '{\\n  "smartctl": {\\n    "version": [\\n      7,\\n      3\\n    ],\\n    "exit_status": 0\\n  },\\n  "smart_status": {\\n    "passed": true\\n  }\\n}\\n'
`,
  sync: '#!/bin/sh\n',
  sleep: `#!/bin/sh
. "$DRIVE/shared"
put uptime $(($(get uptime) + \${1%.*}))
`,
  curl: `#!/bin/sh
. "$DRIVE/shared"
while [ $# -gt 1 ]; do
  case $1 in --data-binary) data=$2; shift ;; -o) out=$2; shift ;; esac
  shift
done
call=\${1##*/}
if [ "$(get isAway)" != 0 ]; then
  put isAway $(($(get isAway) - 1))
  put uptime $(($(get uptime) + 3))
  echo 'curl: (7) Failed to connect to 192.0.2.1 port 8071 after 3065 ms: No route to host' >&2
  exit 7
fi
nth=$(($(get sent) + 1))
put sent $nth
printf '%s\\n' "$call" > "$DRIVE/sent.$nth"
[ -z "$data" ] || cat "\${data#@}" >> "$DRIVE/sent.$nth"
refused=$(get refused '')
if [ -n "$refused" ] && grep -q "\\"kind\\":\\"$refused\\"" "$DRIVE/sent.$nth"; then echo 'curl: (22) The requested URL returned error: 422' >&2; exit 22; fi
case $call in claim) echo '{"nonce":"n"}' > "$out" ;; plan) cat "$DRIVE/plan" > "$out" ;; *) echo '{}' > "$out" ;; esac
`,
};

/** The scripts beside one disk, `nvme0n1` or `sda`, that holds what somebody left there. */
export async function openScripts(kind: 'nvme' | 'sata', drive: Partial<Drive> = {}): Promise<ScriptBed> {
  const tree = await ensureUnpacked('scripts', ['dash', 'jq']);
  const dir = await mkdtemp(join(tmpdir(), 'innkeeper-scripts-'));
  const disk = join(dir, kind === 'nvme' ? 'nvme0n1' : 'sda');
  const real = surroundings(tree);
  await Promise.all(['bin', 'run', 'lib', 'drive', 'dev'].map((each) => mkdir(join(dir, each))));
  const put = async (name: string, text: string) => {
    await writeFile(join(dir, 'bin', name), text);
    await chmod(join(dir, 'bin', name), 0o755);
  };
  // All that they know of where they are.
  const places: [string, string][] = [
    ['/run/innkeeper', join(dir, 'run')],
    ['/usr/lib/innkeeper', join(dir, 'lib')],
    ['/proc/uptime', join(dir, 'drive/uptime')],
    ['/proc/cmdline', join(dir, 'cmdline')],
    ['/sys/module', join(dir, 'modules')],
    ['"/dev/${line', `"${dir}/dev/\${line`],
    ['"/dev/" +', `"${dir}/" +`],
    // Each of them is a program that is started.
    ['marks=32', 'marks=8'],
  ];
  for (const name of ['wipe', 'wipe_all', 'agent', 'common']) {
    let text = await readFile(join(import.meta.dirname, `scripts/${name}.sh`), 'utf8');
    for (const [there, here] of places) text = text.replaceAll(there, here);
    if (name === 'common') await writeFile(join(dir, 'lib/common'), text);
    else await put(name, text);
  }
  for (const [name, text] of Object.entries({ ...others, nvme, hdparm, dd })) await put(name, text);
  await writeFile(join(dir, 'drive/shared'), shared);
  await writeFile(join(dir, 'drive/uptime'), '100\n');
  await writeFile(
    join(dir, 'cmdline'),
    'innkeeper.url=https://192.0.2.1:8071/x innkeeper.key=k innkeeper.token=t\n',
  );
  const plan = { task: 'wipe', wipe: ['S1'] };
  await writeFile(join(dir, 'drive/plan'), JSON.stringify(plan));
  await cp(join(dir, 'drive/plan'), join(dir, 'run/plan'));
  const name = disk.slice(dir.length + 1);
  await writeFile(join(dir, 'run/disks'), JSON.stringify({ disks: [{ name, serial: 'S1' }] }));
  const file = await open(disk, 'w');
  await file.write(Buffer.alloc(bytes, 'left by somebody '));
  await file.close();

  const bed: ScriptBed = {
    ...{ dir, disk },
    async set(change) {
      for (const [what, value] of Object.entries(change))
        await writeFile(join(dir, 'drive', what), `${value}\n`);
    },
    get: async (what) => (await readFile(join(dir, 'drive', what), 'utf8')).trim(),
    calls: async () =>
      (await readFile(join(dir, 'drive/calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean),
    async sent() {
      const names = (await readdir(join(dir, 'drive'))).filter((each) => each.startsWith('sent.'));
      const numbers = names.map((each) => Number(each.slice(5))).sort((a, b) => a - b);
      return Promise.all(
        numbers.map(async (nth) => {
          const [call = '', ...body] = (await readFile(join(dir, `drive/sent.${nth}`), 'utf8')).split('\n');
          const text = body.join('\n');
          return { call, body: call === 'plan' ? null : parsed(text) };
        }),
      );
    },
    async run(script, ...args) {
      const child = spawn('dash', [join(dir, 'bin', script), ...args], {
        env: {
          ...real,
          PATH: `${join(dir, 'bin')}:${real.PATH}`,
          REAL: real.PATH,
          DRIVE: join(dir, 'drive'),
          DISK: disk,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const out = { stdout: '', stderr: '' };
      for (const each of ['stdout', 'stderr'] as const)
        child[each].setEncoding('utf8').on('data', (text: string) => {
          out[each] += text;
        });
      const exit = await new Promise<number>((resolve, reject) =>
        child.on('error', reject).on('close', (code) => resolve(code ?? -1)),
      );
      return { exit, ...out };
    },
    async wipe() {
      const { exit, stdout, stderr } = await bed.run('wipe', disk, 'S1');
      if (stdout === '') throw new Error(`no report: ${stderr}`);
      return { ...(JSON.parse(stdout) as RawWiped), exit };
    },
    replace: put,
    seconds: async () => Number(await readFile(join(dir, 'drive/uptime'), 'utf8')),
    close: () => rm(dir, { recursive: true, force: true }),
  };
  await bed.set(drive);
  return bed;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
