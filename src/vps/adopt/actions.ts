/** What can be done with an unknown machine, and why not. */
export const adoptActions = ['adopt'] as const;
export const refusalCodes = ['conflict', 'locked'] as const;
