/**
 * The VPS manager: machines from the paid order to the customer's last power action. What is wanted stands in
 * the database; sagas make it so through the hypervisor, and the reconciler repairs or flags what differs.
 */

export { powerSaga } from './power.ts';
export { type HypervisorOf, provisionSaga } from './provision.ts';
export { onMachineEvent, reconcileNode } from './reconcile.ts';
export { vpsRoutes } from './routes.ts';
