import type { NamedJob } from '../../platform/index.ts';
import type { ActionName, MachineState } from '../states.ts';

/** What the job of every action knows. */
export interface ActionPayload {
  serviceId: number;
  organizationId: number;
  actionId: number;
  command: ActionName;
  /** What the machine was before, for when the action fails. */
  before: { state: MachineState; wanted: 'running' | 'stopped' };
}

/** The job behind an action. Whoever asks for it and whoever carries it out have its payload's type from here. */
export interface ActionJob<P extends ActionPayload> extends NamedJob<P> {
  readonly command: ActionName;
}

export function actionJob<P extends ActionPayload = ActionPayload>(command: ActionName): ActionJob<P> {
  return { name: `vps.${command}`, command };
}

/** What the job of one action knows besides what each does. */
export type Beside<P extends ActionPayload> = Omit<P, keyof ActionPayload>;

export function payloadOf<P extends ActionPayload>(common: ActionPayload, beside: Beside<P>): P {
  return { ...common, ...beside } as P; // the compiler does not see that both together are all of it
}

export interface PowerPayload extends ActionPayload {
  force: boolean;
  /** Set when nobody asked for it: the machine had gone down by itself. */
  repair?: boolean;
  /** Why it was down. */
  reason?: string;
}

export const powerJobs = {
  start: actionJob<PowerPayload>('start'),
  stop: actionJob<PowerPayload>('stop'),
  restart: actionJob<PowerPayload>('restart'),
};
