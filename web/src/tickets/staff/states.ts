import { updateTicket } from '../../../../client/generated/fields/updateTicket.ts';

/** States that staff may set: that a customer waits follows from what the customer wrote. */
export const states = updateTicket.status.choices;
export type SetState = (typeof states)[number];
