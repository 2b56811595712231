/**
 * One question for everything that has a name, a number or an address, for whoever knows what they look for. Each room
 * says what of its own is found (`finds.ts`), by the searches of its lists; nothing is kept here.
 */
export { searchRoutes } from './routes.ts';
