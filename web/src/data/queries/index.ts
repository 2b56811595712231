/** The one table of what pages read, a file for each room. */
export * from './account.ts';
export * from './billing.ts';
export * from './cart.ts';
export * from './dedicated.ts';
export * from './first.ts';
export * from './listed.ts';
export * from './needs.ts';
export * from './organizations.ts';
export * from './search.ts';
export * from './services.ts';
export * from './session.ts';
export * from './shield.ts';
export * from './tickets.ts';
export * from './vps.ts';
export * from './webhooks.ts';
