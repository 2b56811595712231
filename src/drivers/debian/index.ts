/**
 * What systems of ours are made from: Debian's packages, fetched with the host's own apt and unpacked without being installed, its
 * kernels and their modules, and the archives that kernels start from. Images of machines (`hypervisor/images`) and the system that
 * installs servers (`installer`) are both built of it.
 */
export { cloudInitModules } from './cloudInit.ts';
export { cpioArchive } from './cpio.ts';
export { withFileLock } from './fileLock.ts';
export { kept } from './kept.ts';
export { fetchKernel, kernelPackages, moduleName, readModules, writeUnpackedKernel } from './kernel.ts';
export { dependenciesOf, downloadPackages, librariesOf, unpackPackage } from './packages.ts';
export { type FileEntry, tarArchive, tarFiles } from './tar.ts';
export { pathsOf, programIn, unpackMissing } from './unpacked.ts';
