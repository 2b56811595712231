/**
 * Shield: what customers want of the packets to their addresses. Rules, presets and rates stand in the database as they are
 * wanted; a job has the edge of the machine's node do so, a comparison every minute repairs what differs, and each rule shows
 * what is in force beside what is wanted. What is sent to each address is read once a second, and what is an attack is written down
 * and told of, and where its owner wants that it is met. An address that is given back takes nothing along to whoever has it next.
 */
import './errors.ts';
import './limits.ts';
import './permissions.ts';

import type { AnySaga, PeriodicJob } from '../platform/index.ts';
import { forgettingTraffic } from './analytics/forget.ts';
import { announce } from './edges/announce.ts';
import { handingOver } from './edges/handOver.ts';
import { applyPolicies } from './enforce/apply.ts';
import { confirmTrial, takeBackTrial, tryOut } from './enforce/trials.ts';
import { tracing } from './explain/elsewhere.ts';
import { expireRules } from './rules/expire.ts';
import { learningUsual } from './watch/usual.ts';

export { forgetShield } from './addresses/giveBack.ts';
export { shieldMover } from './addresses/move.ts';
export { readShieldOf, type ShieldState } from './addresses/protectedNow.ts';
export { shieldConcerns } from './concerns.ts';
export { announceNow } from './edges/announcer.ts';
export { enlistEdges, type OwnEdges, requireNothingBehind } from './edges/enlist.ts';
export { isFiltered } from './edges/filtered.ts';
export { createRuleCounter } from './enforce/count.ts';
export { reconcileEdge } from './enforce/reconcile.ts';
export { addressFinds, ruleFinds } from './finds.ts';
export { shieldMails } from './mails.ts';
export { shieldNeeds } from './needs.ts';
export { shieldPersonal } from './personal.ts';
export { shieldRoutes } from './routes.ts';
export { shield } from './settings.ts';
export { shieldStaffRoutes } from './staffRoutes.ts';
export { shieldWatch } from './watch/look.ts';
export { createWatcher } from './watch/watcher.ts';
export { readShieldAddress } from './wireAddress.ts';

export const shieldJobs: AnySaga[] = [
  announce,
  applyPolicies,
  handingOver,
  tryOut,
  confirmTrial,
  takeBackTrial,
  tracing,
];

export const shieldPeriodicJobs: PeriodicJob[] = [expireRules, forgettingTraffic, learningUsual];
