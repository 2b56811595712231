/** Codes of failures that are a server's own: it is set aside, with the reason. What its BMC left undone for good comes as `server_failed`. */
const serversOwn = new Set([
  ...['server_silent', 'other_disks', 'disk_not_wiped', 'server_failed', 'server_unfit'],
  'port_too_slow',
  ...['bmc_refused', 'answer_invalid'],
]);

/** Whether what went wrong is the server's own, and another try would not help. */
export function isServersFault({ code }: { code: string }): boolean {
  return serversOwn.has(code);
}

/** There is something about a server that keeps it from being worked on. */
export function unfit(message: string): Error {
  return Object.assign(new Error(message), { code: 'server_unfit', permanent: true });
}
