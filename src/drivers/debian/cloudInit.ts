/** cloud-init's modules that a system of ours has a use for; each one costs an emulated boot about a second. */
export const cloudInitModules = `cloud_init_modules: [seed_random, write-files, growpart, resizefs, set_hostname, update_etc_hosts, users-groups, ssh]
cloud_config_modules: [set-passwords, timezone, runcmd]
cloud_final_modules: [package-update-upgrade-install, write-files-deferred, scripts-per-once, scripts-per-boot, scripts-per-instance, scripts-user, final-message]
`;
