import { staffList } from './read.ts';

export const allDeliveries = staffList('/staff/webhook-deliveries', 'deliveries');
