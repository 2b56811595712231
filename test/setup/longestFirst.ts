import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * How many seconds files take of two cores, those that take ten and more: without a memory of earlier runs the runner begins with
 * large files, and a long one that begins last has everything wait for it. Only the order comes of it.
 */
const seconds: Record<string, number> = {
  'test/consoles.test.ts': 73,
  'src/drivers/edge/nftables.machine.test.ts': 113,
  'src/drivers/netboot/install.machine.long.test.ts': 150,
  'src/fleet/enrolment/enrol.machine.test.ts': 120,
  'src/dedicated/install/provision.machine.test.ts': 170,
  'src/drivers/installer/debian.long.test.ts': 1200,
  'src/demo/rack/real/stop.machine.test.ts': 40,
  'src/dedicated/install/provision.test.ts': 250,
  'src/dedicated/install/restored.test.ts': 60,
  'src/dedicated/move/stopped.test.ts': 150,
  'src/dedicated/move/restored.test.ts': 60,
  'src/dedicated/install/dies.test.ts': 60,
  'src/dedicated/return/return.test.ts': 80,
  'src/dedicated/dedicated.test.ts': 70,
  'src/dedicated/console/console.test.ts': 40,
  'src/fleet/enrolment/enrolment.test.ts': 115,
  'src/drivers/installer/wipe.test.ts': 20,
  'src/fleet/baselines/baselines.test.ts': 50,
  'src/dedicated/return/lockedOut.test.ts': 60,
  'src/drivers/installer/disk.long.test.ts': 600,
  'src/dedicated/reinstall/diskImage.test.ts': 30,
  'src/services/kinds/portSpeed.test.ts': 10,
  'src/dedicated/reinstall/userData.test.ts': 20,
  'web/staffBaseline.test.ts': 15,
  'src/vps/moves/held.test.ts': 60,
  'src/vps/moves/ran.test.ts': 27,
  'src/vps/adopt/adopt.test.ts': 22,
  'web/staffAdoption.test.ts': 20,
  'test/restored.test.ts': 98,
  'test/restoredPayments.test.ts': 85,
  'test/idle.test.ts': 75,
  'test/crash/many.test.ts': 45,
  'src/drivers/hypervisor/qemu/management.machine.test.ts': 84,
  'src/drivers/hypervisor/incus/driver.machine.test.ts': 90,
  'src/vps/staying.machine.long.test.ts': 75,
  'src/drivers/hypervisor/qemu/driver.machine.test.ts': 64,
  'src/vps/manager.machine.test.ts': 60,
  'test/backup.test.ts': 60,
  'src/vps/moves/intoCluster.machine.long.test.ts': 90,
  'src/vps/moves/intoCluster.test.ts': 26,
  'web/staffIntoCluster.test.ts': 20,
  'src/vps/moves/hostile.test.ts': 58,
  'src/fleet/clusters/clusters.test.ts': 56,
  'src/tickets/byMail/byMail.test.ts': 52,
  'test/deadWorker.test.ts': 74,
  'web/machine.test.ts': 51,
  'test/operator.test.ts': 50,
  'test/endToEnd.machine.test.ts': 49,
  'test/metrics.test.ts': 49,
  'web/account.test.ts': 49,
  'test/recovered.test.ts': 47,
  'src/drivers/hypervisor/qemu/crash.machine.long.test.ts': 46,
  'src/platform/database/embedded/embedded.test.ts': 46,
  'web/trouble.test.ts': 45,
  'test/founding.test.ts': 42,
  'web/staffRunning.test.ts': 42,
  'web/dashboard.test.ts': 38,
  'src/drivers/hypervisor/qemu/hang.machine.long.test.ts': 36,
  'test/leap.test.ts': 36,
  'src/vps/suspend/suspend.test.ts': 34,
  'test/processes.test.ts': 35,
  'test/outage.test.ts': 150,
  'web/longLists.test.ts': 33,
  'src/drivers/bmc/ipmi/driver.test.ts': 40,
  'src/drivers/bmc/redfish/driver.test.ts': 40,
  'test/crash/crash.test.ts': 32,
  'test/crash/payments.test.ts': 32,
  'src/vps/console/screen.test.ts': 30,
  'src/fleet/clusters/workers.test.ts': 30,
  'src/vps/moves/evacuate.test.ts': 30,
  'src/vps/recovery/recover.test.ts': 30,
  'src/vps/follow.test.ts': 18,
  'src/fleet/clusters/ordering.test.ts': 28,
  'src/drivers/edge/nftables/driver.machine.test.ts': 29,
  'src/shield/edges/goingOver.test.ts': 15,
  'src/drivers/hypervisor/qemu/frames.machine.test.ts': 28,
  'src/drivers/hypervisor/incus/guestFrames.machine.test.ts': 20,
  'src/drivers/hypervisor/qemu/guestFrames.machine.test.ts': 15,
  'src/drivers/hypervisor/qemu/powerCut.machine.long.test.ts': 28,
  'src/drivers/hypervisor/qemu/flushed.machine.long.test.ts': 30,
  'web/together.test.ts': 28,
  'test/standby.test.ts': 36,
  'src/tickets/byMail/parseMail.test.ts': 25,
  'src/platform/database/lead.test.ts': 26,
  'src/platform/database/migrate.test.ts': 25,
  'src/drivers/hypervisor/incus/lines.test.ts': 27,
  'src/drivers/hypervisor/proxmox/crashes.test.ts': 36,
  'web/tickets.test.ts': 25,
  'cli/ends.test.ts': 24,
  'src/drivers/hypervisor/qemu/starved.machine.long.test.ts': 24,
  'src/drivers/hypervisor/qemu/throttle.machine.long.test.ts': 24,
  'src/services/calendar/calendar.test.ts': 24,
  'web/journeys.test.ts': 24,
  'web/staffCustomers.test.ts': 24,
  'src/vps/console/console.test.ts': 23,
  'test/fuzz/fuzz.test.ts': 23,
  'test/powerCut.test.ts': 26,
  'test/killed.test.ts': 23,
  'test/pooler.test.ts': 19,
  'src/account/closing/closing.test.ts': 22,
  'src/billing/charges/saved.test.ts': 22,
  'src/vps/actions/neighbours.test.ts': 22,
  'test/access.test.ts': 22,
  'web/brand.test.ts': 22,
  'src/drivers/edge/nftables/synproxy.machine.test.ts': 22,
  'src/shield/edges/router.machine.long.test.ts': 60,
  'src/shield/edges/bird.machine.test.ts': 90,
  'src/shield/edges/rulesAtRouters.test.ts': 25,
  'src/shield/packets.machine.test.ts': 30,
  'src/shield/attacks/nine.machine.test.ts': 28,
  'src/shield/edges/router.test.ts': 24,
  'web/shield.test.ts': 21,
  'src/fleet/troubles.test.ts': 21,
  'test/backupUnderLoad.test.ts': 21,
  'web/staffMoney.test.ts': 21,
  'src/services/takeBack.test.ts': 20,
  'src/vps/actions/forcedStop.test.ts': 20,
  'web/contract.test.ts': 19,
  'web/overwrite.test.ts': 19,
  'test/credentials.test.ts': 18,
  'web/ahead.test.ts': 18,
  'web/foundations.test.ts': 18,
  'web/journeys.machine.test.ts': 18,
  'web/order.test.ts': 18,
  'web/painted.test.ts': 18,
  'web/products.test.ts': 18,
  'src/billing/documents/taxed.test.ts': 17,
  'src/painter.test.ts': 11,
  'src/platform/database/connect.test.ts': 17,
  'web/busy.test.ts': 17,
  'web/departments.test.ts': 17,
  'web/staffSupport.test.ts': 17,
  'src/services/calendar/years.test.ts': 16,
  'src/services/renew/renew.test.ts': 16,
  'src/services/upgrade/upgrade.test.ts': 16,
  'src/drivers/mailIn/listener.test.ts': 15,
  'src/services/cancel/cancel.test.ts': 15,
  'src/vps/actions/stuck.test.ts': 15,
  'src/vps/reconcile.test.ts': 15,
  'src/vps/keepCharts.test.ts': 15,
  'src/services/calendar/numbers.test.ts': 11,
  'test/closedMeanwhile.test.ts': 15,
  'web/staff.test.ts': 15,
  'src/vps/snapshots/backups.test.ts': 14,
  'cli/cli.test.ts': 13,
  'src/billing/charges/closedPayer.test.ts': 13,
  'src/drivers/files/s3.test.ts': 13,
  'src/drivers/mailIn/mailbox.test.ts': 13,
  'src/platform/log.test.ts': 13,
  'src/services/calendar/charges.test.ts': 13,
  'src/webhooks/replay.test.ts': 13,
  'src/events/stream/underWay.test.ts': 12,
  'src/vps/power.test.ts': 12,
  'web/power.test.ts': 12,
  'src/account/signIn/signIn.test.ts': 11,
  'src/events/forgetJournal.test.ts': 11,
  'test/canary.test.ts': 11,
  'test/canaryBmc.test.ts': 20,
  'src/dedicated/broken.test.ts': 36,
  'src/dedicated/hardware.test.ts': 36,
  'src/dedicated/staffRescue/rescue.test.ts': 40,
  'test/ifMatch.test.ts': 11,
  'test/sharedLimits.test.ts': 11,
  'web/passkeys.test.ts': 11,
  'src/billing/documents/pdf.test.ts': 10,
  'src/drivers/hypervisor/qemu/firmware.machine.test.ts': 10,
  'src/services/delivery/refundMeanwhile.test.ts': 10,
  'test/adoption.test.ts': 10,
  'test/moneyModel.test.ts': 10,
  'test/storm.test.ts': 10,
  'web/palette.test.ts': 10,
  'web/staffLists.test.ts': 10,
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
