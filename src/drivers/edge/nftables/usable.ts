import { ProgramError, runAsRoot } from '../../../platform/host/program.ts';

const probe = 'innkeeper_edge_probe';

/** What an edge makes of each kind, and takes away in the same transaction: a kernel or a container may lack a part of it. */
const tried = ['inet', 'bridge']
  .flatMap((family) => [
    `add table ${family} ${probe}`,
    `add chain ${family} ${probe} hooked { type filter hook ${family === 'inet' ? 'prerouting' : 'forward'} priority -450; }`,
    `add chain ${family} ${probe} judged`,
    `add map ${family} ${probe} trials { type ipv4_addr : verdict; flags timeout; }`,
    `add set ${family} ${probe} counted { type ipv4_addr; size 16; flags dynamic,timeout; timeout 1m; counter; }`,
    `add rule ${family} ${probe} judged counter update @counted { ip daddr }`,
    `add element ${family} ${probe} trials { 192.0.2.1 timeout 10s : goto judged }`,
    `delete table ${family} ${probe}`,
  ])
  .map((line) => `${line}\n`)
  .join('');

/**
 * Why `nftablesEdge` cannot filter here, as a sentence; null when it can. It is tried out, as the version of a program or of a kernel
 * says little. Leaves nothing behind. `inside` as in `nftablesEdge`.
 */
export function whyNoNftables(
  inside: (argv: readonly string[]) => readonly string[] = (argv) => argv,
): Promise<string | null> {
  return runAsRoot(inside(['nft', '-f', '-']), { input: tried, timeoutMs: 20_000 }).then(
    () => null,
    (error: Error) => {
      if (isMissing(error)) return 'there is no program nft; it comes with the Debian package nftables';
      if (/not permitted|a password is required/.test(error.message))
        return 'nft may not change the packet filter: it takes root, or sudo without a password, with CAP_NET_ADMIN';
      return `nft does not take what an edge needs: ${error.message}`;
    },
  );
}

/** Whether the kernel answers for others who opens a connection to them. Tried out in the same way. */
export function hasKernelSynproxy(
  inside: (argv: readonly string[]) => readonly string[] = (argv) => argv,
): Promise<boolean> {
  const input = [
    `add table inet ${probe}`,
    `add chain inet ${probe} answered { type filter hook forward priority -150; }`,
    `add ct timeout inet ${probe} ends { protocol tcp; l3proto ip; policy = { close: 1 }; }`,
    `add rule inet ${probe} answered ip daddr 192.0.2.1 tcp dport 1 ct state new synproxy mss 1460`,
    `add rule inet ${probe} answered ip daddr 192.0.2.1 meta l4proto tcp ct timeout set "ends"`,
    `delete table inet ${probe}`,
    '',
  ].join('\n');
  return runAsRoot(inside(['nft', '-f', '-']), { input, timeoutMs: 20_000 }).then(
    () => true,
    () => false,
  );
}

/** As the system says it, or whoever was to start it for us. */
function isMissing(error: Error): boolean {
  if (!(error instanceof ProgramError)) return (error as NodeJS.ErrnoException).code === 'ENOENT';
  return error.exitCode === 127 || /command not found/.test(error.message);
}
