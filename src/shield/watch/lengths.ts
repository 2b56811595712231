/** TCP of so many bytes a packet brings data that the guest asks for: senders wait for its answers, and are slowed by it. */
export const transferBytes = 500;
/** UDP of so many bytes may be a download as well. */
export const downloadBytes = 1_000;
