import { staffList, staffThing } from './read.ts';

export const users = staffList('/staff/users', 'users');
export const user = staffThing('/staff/users/{id}');
export const factorReset = staffThing('/staff/users/{id}/factor-reset');
export const impersonations = staffList('/staff/impersonations', 'impersonations');
export const staffPeople = staffList('/staff/staff', 'staff');
export const staffKeys = staffList('/staff/keys', 'api_keys');
