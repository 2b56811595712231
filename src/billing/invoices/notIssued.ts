/** Of a document that was only rehearsed: it is nobody's, and there is none. */
export const notIssued = { id: null, number: null, payment_reference: null };
