import { setTimeout as delay } from 'node:timers/promises';
import { HypervisorError, type Nic, type NicAddress } from '../contract.ts';
import { addressArguments, addressScript } from './addresses.ts';
import { type Agent, AgentRefusal, silent } from './agent.ts';
import { plainCount, plainText } from './plainText.ts';

const administrator = 'root';
const execTimeoutMs = 30_000;
const longestPrinted = 300;
const growTimeoutMs = 120_000;
const syncTimeoutMs = 120_000;
/** Of a guest that boots for the first time, until it has set what it was given. */
const settleS = 60;

/**
 * Waits until the guest has done what its seed asks of it: all of it, or only what sets its sign-in, at most so long.
 * Resolves at once where nothing does such things, or where the agent runs no programs.
 */
export async function waitUntilTaken(agent: Agent, what: 'all' | 'sign-in', limitS: number): Promise<void> {
  await execute(agent, takenScript, [what, String(limitS)], '', (limitS + 30) * 1_000).catch((error) => {
    if (!isUnknownCommand(error)) throw error;
  });
}

/** Sets the administrator's password from its crypt(5) hash, and lets it sign in where we had closed that. */
export async function setPassword(agent: Agent, passwordHash: string): Promise<void> {
  await refusable('settle', () => waitUntilTaken(agent, 'sign-in', settleS));
  const password = Buffer.from(passwordHash).toString('base64');
  await refusable('take a password', () =>
    agent.command('guest-set-user-password', { username: administrator, password, crypted: true }),
  );
  await refusable('open sign-in by password over SSH; the password itself is set', () =>
    execute(agent, passwordSignInScript, []).catch((error) => {
      // A guest whose agent runs no programs is none that we can look into; its sshd is its owner's affair.
      if (!isUnknownCommand(error)) throw error;
    }),
  );
  await keepForGood(agent);
}

/** Replaces the administrator's keys. Agents before 5.2, and builds without the command, write the file. */
export async function setAuthorizedKeys(agent: Agent, keys: readonly string[]): Promise<void> {
  await refusable('take keys', async () => {
    await waitUntilTaken(agent, 'sign-in', settleS);
    try {
      await agent.command('guest-ssh-add-authorized-keys', { username: administrator, keys, reset: true });
    } catch (error) {
      if (!isUnknownCommand(error)) throw error;
      await execute(agent, keysScript, [], keys.map((key) => `${key}\n`).join(''));
    }
  });
  await keepForGood(agent);
}

/** Has the guest write what it was told to its disk: an agent says that it is done while a power cut still undoes it. */
async function keepForGood(agent: Agent): Promise<void> {
  await refusable('write to its disk', () =>
    execute(agent, 'sync', [], '', syncTimeoutMs).catch((error) => {
      if (!isUnknownCommand(error)) throw error;
    }),
  );
}

/** The agent has no such command, or its owner has switched it off. */
function isUnknownCommand(error: unknown): boolean {
  return error instanceof AgentRefusal && error.errorClass === 'CommandNotFound';
}

/** Renames the guest now and for its next boots. */
export async function setHostname(agent: Agent, hostname: string): Promise<void> {
  await refusable('take a name', () => execute(agent, hostnameScript, [hostname]));
}

/** Brings the guest's network device to the machine's addresses; `former` ones go. */
export async function setAddresses(agent: Agent, nic: Nic, former: readonly NicAddress[]): Promise<void> {
  await refusable('take its addresses', () => execute(agent, addressScript, addressArguments(nic, former)));
}

/** Lets the guest's root file system take the room that its disk has. */
export async function growFileSystem(agent: Agent): Promise<void> {
  await refusable('grow its file system', () => execute(agent, growScript, [], '', growTimeoutMs));
}

/*
 * Programs for the guest's own shell. They never change: values arrive as arguments or on standard input, where
 * they are text and nothing else.
 */
const keysScript = `umask 077
mkdir -p /root/.ssh && cat > /root/.ssh/authorized_keys.new &&
  mv /root/.ssh/authorized_keys.new /root/.ssh/authorized_keys`;

/**
 * SSH answers while cloud-init is still in its first boot, and what is set meanwhile it sets back. Passwords and keys are
 * done with its second last stage; the last one runs the customer's own programs.
 */
const takenScript = `export PATH=/usr/sbin:/usr/bin:/sbin:/bin
waited=0
[ -d /run/cloud-init ] || exit 0
while [ ! -e /run/cloud-init/result.json ] && [ ! -e /run/cloud-init/disabled ] && [ "$waited" -lt "$2" ]; do
  if [ "$1" = sign-in ] && systemctl is-active --quiet cloud-config.service; then exit 0; fi
  sleep 1
  waited=$((waited + 1))
done`;

/**
 * Takes back the one line that cloud-init wrote for us into its own file (`ssh_pwauth: false`). Other files count as they are; where none but
 * the image's own says anything, the answer that cloud-init would have written for a password overrides that one.
 * sshd reads all again at a hangup, and would not survive one with files that it refuses.
 */
const passwordSignInScript = `set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd /etc/ssh/sshd_config.d 2>/dev/null || exit 0
ours=50-cloud-init.conf
grep -qx 'PasswordAuthentication no' "$ours" 2>/dev/null || exit 0
sshd -t
others=$(grep -liE '^[[:space:]]*PasswordAuthentication[[:space:]=]' ../sshd_config *.conf |
  grep -vxE "$ours|60-cloudimg-settings\\.conf") || :
if [ -n "$others" ]; then
  sed -i '/^PasswordAuthentication no$/d' "$ours"
else
  sed -i 's/^PasswordAuthentication no$/PasswordAuthentication yes/' "$ours"
fi
if [ -f /run/sshd.pid ]; then kill -HUP "$(cat /run/sshd.pid)"; fi
sync`;

const hostnameScript = `set -e
printf '%s\\n' "$1" > /etc/hostname.new && mv /etc/hostname.new /etc/hostname
printf '%s' "$1" > /proc/sys/kernel/hostname
{
  grep -v '^127\\.0\\.1\\.1[[:space:]]' /etc/hosts 2>/dev/null || printf '127.0.0.1 localhost\\n::1 localhost\\n'
  printf '127.0.1.1 %s\\n' "$1"
} > /etc/hosts.new
cat /etc/hosts.new > /etc/hosts && rm /etc/hosts.new
sync`;

/** The partition that holds the root file system is grown first, where there is one (proc(5), sysfs). */
const growScript = `set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
device= type=
while read -r source target kind rest; do
  [ "$target" = / ] && device=$source type=$kind
done < /proc/mounts
[ "$device" = /dev/root ] && device=$(readlink -f /dev/root)
name=\${device##*/}
if [ -f "/sys/class/block/$name/partition" ]; then
  number=$(cat "/sys/class/block/$name/partition")
  disk=$(basename "$(dirname "$(readlink -f "/sys/class/block/$name")")")
  growpart "/dev/$disk" "$number" || [ $? = 1 ]
fi
case $type in
  ext2 | ext3 | ext4) resize2fs "$device" ;;
  xfs) xfs_growfs / ;;
  btrfs) btrfs filesystem resize max / ;;
esac`;

async function execute(
  agent: Agent,
  script: string,
  args: readonly string[],
  input = '',
  timeoutMs = execTimeoutMs,
): Promise<void> {
  const pid = pidIn(
    await agent.command('guest-exec', {
      path: '/bin/sh',
      arg: ['-c', script, 'innkeeper', ...args],
      'input-data': Buffer.from(input).toString('base64'),
      'capture-output': true,
    }),
  );
  const until = Date.now() + timeoutMs;
  for (;;) {
    const status = statusIn(await agent.command('guest-exec-status', { pid }));
    if (status.exited && status.exitCode === 0) return;
    if (status.exited) throw new AgentRefusal('guest-exec', 'GenericError', status.printed || 'it failed');
    if (Date.now() >= until) throw silent('a program in the guest does not end');
    await delay(30);
  }
}

/** The guest's number of the program it has started. */
function pidIn(answer: unknown): number {
  const pid = plainCount((Object(answer) as { pid?: unknown }).pid);
  if (pid !== null) return pid;
  throw new AgentRefusal('guest-exec', 'GenericError', 'it says that it has started nothing');
}

/** How the program is doing; the last of what it printed, when it has ended. */
function statusIn(answer: unknown): { exited: boolean; exitCode: number | null; printed: string } {
  const status = Object(answer) as { exited?: unknown; exitcode?: unknown; 'err-data'?: unknown };
  const data = typeof status['err-data'] === 'string' ? status['err-data'] : '';
  const printed = Buffer.from(data, 'base64').toString('utf8').trim().slice(-longestPrinted);
  return {
    exited: status.exited === true,
    exitCode: plainCount(status.exitcode),
    printed: plainText(printed, longestPrinted),
  };
}

async function refusable(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof AgentRefusal)) throw cause;
    throw new HypervisorError('guest_refused', `the guest does not ${what}: ${cause.message}`, { cause });
  }
}
