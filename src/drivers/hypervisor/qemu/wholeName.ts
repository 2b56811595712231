/**
 * Gives a guest back what cloud-init cuts off its name. Before it has read what we tell it besides, it takes the name up
 * to the first dot, as Debian wants it, and later finds that nothing has changed. A guest that was given another name
 * from inside keeps that.
 */
const setWholeName = `set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
umask 022
cut=\${1%%.*}
[ "$(cat /proc/sys/kernel/hostname)" = "$cut" ] || exit 0
printf '%s' "$1" > /proc/sys/kernel/hostname
[ "$(cat /etc/hostname)" = "$cut" ] || exit 0
printf '%s\\n' "$1" > /etc/hostname.new
mv /etc/hostname.new /etc/hostname
sync`;

/** The script as vendor data that cloud-init runs at every boot. */
export function wholeNameBootHook(hostname: string): string {
  const quoted = `'${hostname.replaceAll("'", `'\\''`)}'`;
  return `#cloud-boothook\n#!/bin/sh\nset -- ${quoted}\n${setWholeName}\n`;
}
