import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * How many seconds files take of two cores, those that take ten and more: without a memory of earlier runs the runner begins with
 * large files, and a long one that begins last has everything wait for it. Only the order comes of it.
 */
const seconds: Record<string, number> = {
  'test/operator.test.ts': 71,
  'src/vps/console/screen.test.ts': 70,
  'test/restoredPayments.test.ts': 69,
  'src/drivers/hypervisor/qemu/driver.machine.test.ts': 57,
  'web/machine.test.ts': 54,
  'src/vps/manager.machine.test.ts': 52,
  'src/drivers/hypervisor/qemu/management.machine.test.ts': 50,
  'test/deadWorker.test.ts': 50,
  'web/dashboard.test.ts': 47,
  'test/backup.test.ts': 47,
  'src/tickets/byMail/byMail.test.ts': 42,
  'web/account.test.ts': 40,
  'web/longLists.test.ts': 40,
  'test/metrics.test.ts': 39,
  'test/restored.test.ts': 38,
  'test/outage.test.ts': 38,
  'web/trouble.test.ts': 35,
  'src/vps/staying.machine.test.ts': 35,
  'src/drivers/hypervisor/qemu/hang.machine.test.ts': 35,
  'test/crash/crash.test.ts': 34,
  'test/founding.test.ts': 33,
  'test/endToEnd.machine.test.ts': 32,
  'src/vps/suspend/suspend.test.ts': 30,
  'test/crash/crashBack.test.ts': 30,
  'test/access.test.ts': 30,
  'src/services/calendar/calendar.test.ts': 26,
  'web/staffMoney.test.ts': 25,
  'src/drivers/hypervisor/qemu/crash.machine.test.ts': 24,
  'web/brand.test.ts': 24,
  'test/killed.test.ts': 23,
  'web/staffCustomers.test.ts': 23,
  'web/journeys.test.ts': 23,
  'src/vps/console/console.test.ts': 21,
  'test/backupUnderLoad.test.ts': 21,
  'src/fleet/troubles.test.ts': 21,
  'src/billing/charges/saved.test.ts': 20,
  'web/together.test.ts': 20,
  'web/overwrite.test.ts': 20,
  'web/tickets.test.ts': 19,
  'web/busy.test.ts': 18,
  'src/vps/actions/forcedStop.test.ts': 18,
  'web/staffSupport.test.ts': 18,
  'web/staffRunning.test.ts': 18,
  'src/tickets/byMail/parseMail.test.ts': 17,
  'cli/ends.test.ts': 17,
  'web/departments.test.ts': 17,
  'src/services/calendar/years.test.ts': 17,
  'src/platform/database/connect.test.ts': 17,
  'src/services/takeBack.test.ts': 16,
  'src/vps/power.test.ts': 16,
  'cli/cli.test.ts': 16,
  'web/products.test.ts': 16,
  'src/drivers/hypervisor/qemu/starved.machine.test.ts': 16,
  'web/contract.test.ts': 16,
  'src/vps/reconcile.test.ts': 15,
  'test/ifMatch.test.ts': 15,
  'src/drivers/mailIn/listener.test.ts': 15,
  'src/account/closing/closing.test.ts': 15,
  'src/services/renew/renew.test.ts': 15,
  'web/journeys.machine.test.ts': 15,
  'src/billing/charges/closedPayer.test.ts': 14,
  'test/crash/payments.test.ts': 14,
  'test/fuzz/fuzz.test.ts': 14,
  'src/vps/actions/stuck.test.ts': 14,
  'web/foundations.test.ts': 14,
  'test/closedMeanwhile.test.ts': 14,
  'src/services/cancel/cancel.test.ts': 13,
  'src/platform/log.test.ts': 13,
  'src/drivers/mailIn/mailbox.test.ts': 13,
  'src/platform/database/embedded/embedded.test.ts': 13,
  'src/drivers/hypervisor/qemu/throttle.machine.test.ts': 13,
  'src/events/stream/underWay.test.ts': 12,
  'src/webhooks/replay.test.ts': 12,
  'web/passkeys.test.ts': 12,
  'src/drivers/files/s3.test.ts': 11,
  'web/staffLists.test.ts': 11,
  'src/vps/upgrade/upgrade.test.ts': 11,
  'src/billing/bookkeeping/forget.test.ts': 11,
  'src/events/forgetJournal.test.ts': 11,
  'test/credentials.test.ts': 11,
  'test/canary.test.ts': 11,
  'src/services/upgrade/upgrade.test.ts': 11,
  'src/services/delivery/refundMeanwhile.test.ts': 11,
  'web/power.test.ts': 11,
  'src/drivers/hypervisor/qemu/frames.machine.test.ts': 10,
  'src/billing/documents/taxed.test.ts': 10,
  'src/services/priceMoves/priceMoves.test.ts': 10,
  'web/staff.test.ts': 10,
  'src/events/followJournal.test.ts': 10,
  'web/order.test.ts': 10,
  'src/services/renew/dates.test.ts': 10,
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
