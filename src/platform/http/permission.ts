/** What a route can ask of its caller's role. Rooms add theirs, with the roles that hold it: see `organizations`. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it
export interface PermissionCatalogue {}

export type Permission = keyof PermissionCatalogue & string;
