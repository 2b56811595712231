import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * How many seconds files take of two cores, those that take ten and more: without a memory of earlier runs the runner begins with
 * large files, and a long one that begins last has everything wait for it. Only the order comes of it.
 */
const seconds: Record<string, number> = {
  'test/restoredPayments.test.ts': 87,
  'test/operator.test.ts': 63,
  'src/vps/console/screen.test.ts': 62,
  'src/vps/manager.machine.test.ts': 60,
  'src/drivers/hypervisor/qemu/management.machine.test.ts': 58,
  'web/dashboard.test.ts': 54,
  'web/machine.test.ts': 54,
  'test/backup.test.ts': 53,
  'test/restored.test.ts': 53,
  'src/drivers/hypervisor/qemu/driver.machine.test.ts': 50,
  'web/account.test.ts': 48,
  'src/vps/staying.machine.test.ts': 45,
  'src/tickets/byMail/byMail.test.ts': 44,
  'test/deadWorker.test.ts': 44,
  'web/longLists.test.ts': 40,
  'test/endToEnd.machine.test.ts': 39,
  'test/metrics.test.ts': 39,
  'web/staffMoney.test.ts': 35,
  'web/trouble.test.ts': 34,
  'test/crash/crash.test.ts': 33,
  'test/outage.test.ts': 33,
  'src/drivers/hypervisor/qemu/crash.machine.test.ts': 32,
  'test/founding.test.ts': 32,
  'web/journeys.test.ts': 27,
  'src/drivers/hypervisor/qemu/hang.machine.test.ts': 26,
  'src/services/calendar/calendar.test.ts': 26,
  'src/vps/suspend/suspend.test.ts': 26,
  'web/brand.test.ts': 26,
  'web/staffCustomers.test.ts': 26,
  'web/staffRunning.test.ts': 26,
  'src/drivers/hypervisor/qemu/starved.machine.test.ts': 25,
  'test/crash/crashBack.test.ts': 25,
  'web/journeys.machine.test.ts': 25,
  'test/access.test.ts': 24,
  'web/tickets.test.ts': 23,
  'src/platform/database/embedded/embedded.test.ts': 22,
  'web/together.test.ts': 22,
  'test/crash/payments.test.ts': 21,
  'src/tickets/byMail/parseMail.test.ts': 19,
  'src/vps/console/console.test.ts': 19,
  'test/killed.test.ts': 19,
  'web/overwrite.test.ts': 19,
  'src/billing/charges/saved.test.ts': 18,
  'src/fleet/troubles.test.ts': 18,
  'src/services/calendar/years.test.ts': 18,
  'src/vps/actions/neighbours.test.ts': 18,
  'cli/cli.test.ts': 17,
  'src/drivers/hypervisor/qemu/throttle.machine.test.ts': 17,
  'src/services/cancel/cancel.test.ts': 17,
  'src/vps/upgrade/upgrade.test.ts': 17,
  'web/busy.test.ts': 17,
  'web/contract.test.ts': 17,
  'web/staffSupport.test.ts': 17,
  'cli/ends.test.ts': 16,
  'src/services/takeBack.test.ts': 16,
  'src/vps/actions/forcedStop.test.ts': 16,
  'test/backupUnderLoad.test.ts': 16,
  'web/departments.test.ts': 16,
  'web/products.test.ts': 16,
  'web/staff.test.ts': 16,
  'src/platform/database/connect.test.ts': 15,
  'src/services/renew/renew.test.ts': 15,
  'test/fuzz/fuzz.test.ts': 15,
  'web/foundations.test.ts': 15,
  'web/order.test.ts': 15,
  'src/account/closing/closing.test.ts': 14,
  'src/billing/charges/closedPayer.test.ts': 14,
  'src/drivers/hypervisor/qemu/frames.machine.test.ts': 14,
  'src/vps/power.test.ts': 14,
  'test/credentials.test.ts': 14,
  'test/ifMatch.test.ts': 14,
  'web/passkeys.test.ts': 14,
  'web/staffLists.test.ts': 14,
  'src/account/signIn/signIn.test.ts': 13,
  'src/drivers/mailIn/listener.test.ts': 13,
  'src/services/upgrade/upgrade.test.ts': 13,
  'src/vps/reconcile.test.ts': 13,
  'test/canary.test.ts': 13,
  'test/closedMeanwhile.test.ts': 13,
  'test/recovered.test.ts': 13,
  'web/ahead.test.ts': 13,
  'src/billing/charges/back.test.ts': 12,
  'src/drivers/files/s3.test.ts': 12,
  'src/drivers/mailIn/mailbox.test.ts': 12,
  'src/events/mails.test.ts': 12,
  'src/platform/log.test.ts': 12,
  'src/vps/actions/stuck.test.ts': 12,
  'src/billing/documents/taxed.test.ts': 11,
  'src/events/stream/underWay.test.ts': 11,
  'src/services/calendar/charges.test.ts': 11,
  'src/tickets/attachments/attachments.test.ts': 11,
  'web/palette.test.ts': 11,
  'web/power.test.ts': 11,
  'src/billing/bookkeeping/forget.test.ts': 10,
  'src/billing/invoices/numbers.test.ts': 10,
  'src/billing/statements/statements.test.ts': 10,
  'src/drivers/hypervisor/qemu/firmware.machine.test.ts': 10,
  'src/events/forgetJournal.test.ts': 10,
  'src/services/delivery/refundMeanwhile.test.ts': 10,
  'src/tickets/byMail/loop.test.ts': 10,
  'src/webhooks/replay.test.ts': 10,
  'test/adoption.test.ts': 10,
  'web/overview.test.ts': 10,
};
const secondsOfOthers = 3;

function secondsOf({ moduleId }: TestSpecification): number {
  const file = Object.keys(seconds).find((each) => moduleId.endsWith(`/${each}`));
  return file === undefined ? secondsOfOthers : (seconds[file] ?? secondsOfOthers);
}

const hasMachines = ({ moduleId }: TestSpecification) => moduleId.endsWith('.machine.test.ts');
const sum = (files: readonly TestSpecification[]) =>
  files.reduce((whole, file) => whole + secondsOf(file), 0);

/** How much of a run machines are spread over: what comes after them is short, so that no core is idle in the end. */
const spreadOver = 0.85;

/**
 * Files with machines apart from each other: an emulated machine keeps a core busy while it boots, and its test then waits,
 * which is when others have the core.
 */
function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const waiting = files.filter(hasMachines);
  const others = files.filter((file) => !hasMachines(file));
  const [whole, machines] = [sum(others), sum(waiting)];
  const ordered: TestSpecification[] = [];
  let [begun, begunMachines] = [0, 0];
  for (const file of others) {
    while (waiting[0] !== undefined && begunMachines / machines <= begun / (whole * spreadOver)) {
      begunMachines += secondsOf(waiting[0]);
      ordered.push(...waiting.splice(0, 1));
    }
    begun += secondsOf(file);
    ordered.push(file);
  }
  return [...ordered, ...waiting];
}

/** The longest files of a project first, and those with machines spread among the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      return spread(own.toSorted((a, b) => secondsOf(b) - secondsOf(a)));
    });
  }
}
