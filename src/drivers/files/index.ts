/**
 * Files that the product keeps. One contract (`contract.ts`), the engines that keep it, `folderFiles`, a folder of this
 * host, and `s3Files`, storage that speaks S3, and the suite that they pass (`conformance.ts`).
 */
export { type Files, type FilesCapability, FilesError, type FilesErrorCode } from './contract.ts';
export { folderFiles } from './folder.ts';
export { type S3Options, s3Files } from './s3.ts';
