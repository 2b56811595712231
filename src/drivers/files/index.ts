/**
 * Files that the product keeps. One contract (`contract.ts`), the engine that keeps it, `folderFiles`, a folder of this
 * host, and the suite that it passes (`conformance.ts`).
 */
export { type Files, type FilesCapability, FilesError, type FilesErrorCode } from './contract.ts';
export { folderFiles } from './folder.ts';
