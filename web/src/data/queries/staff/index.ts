/** What staff's pages read, a file for each room. */
export * from './account.ts';
export * from './attention.ts';
export * from './billing.ts';
export * from './catalog.ts';
export * from './events.ts';
export * from './fleet.ts';
export * from './organizations.ts';
export * from './platform.ts';
export * from './services.ts';
export * from './settings.ts';
export * from './shield.ts';
export * from './tickets.ts';
export * from './webhooks.ts';
