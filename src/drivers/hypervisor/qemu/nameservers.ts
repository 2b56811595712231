import type { Nic } from '../contract.ts';

/**
 * Tells a guest's resolver which name servers to ask, at every boot: cloud-init reads what a seed says of them when the
 * guest is new and never again. Under systemd-networkd a drop-in beside the device's own file says it, which stays as it
 * is; elsewhere the resolver's file does, unless something else writes that one.
 */
const nameserverScript = `set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
umask 022
mac=$1
shift
device=
for each in /sys/class/net/*; do
  if [ -e "$each/device" ] && [ "$(cat "$each/address")" = "$mac" ]; then device=\${each##*/}; fi
done
[ -n "$device" ] || exit 0
if [ -d "/sys/class/net/$device/master/bridge" ]; then
  device=$(basename "$(readlink -f "/sys/class/net/$device/master")")
fi

state=/run/systemd/netif/links/$(cat "/sys/class/net/$device/ifindex")
file=$(sed -n 's/^NETWORK_FILE=//p' "$state" 2>/dev/null) || :
if [ -n "$file" ]; then
  own=/etc/systemd/network/\${file##*/}.d/60-nameservers.conf
  mkdir -p "\${own%/*}"
  { printf '[Network]\\nDNS=\\n'; printf 'DNS=%s\\n' "$@"; } > "$own.new"
  if cmp -s "$own.new" "$own"; then rm "$own.new"; exit 0; fi
  mv "$own.new" "$own"
  systemctl --no-block restart systemd-networkd
elif [ -f /etc/resolv.conf ] && [ ! -L /etc/resolv.conf ]; then
  { grep -v '^nameserver ' /etc/resolv.conf || :; printf 'nameserver %s\\n' "$@"; } > /etc/resolv.conf.new
  cat /etc/resolv.conf.new > /etc/resolv.conf
  rm /etc/resolv.conf.new
fi
sync`;

/** The script as vendor data that cloud-init runs at every boot. Its values are addresses: `checkIdentity` knows them. */
export function nameserverBootHook(nic: Nic, nameservers: readonly string[]): string {
  const quoted = [nic.mac, ...nameservers].map((argument) => `'${argument}'`);
  return `#cloud-boothook\n#!/bin/sh\nset -- ${quoted.join(' ')}\n${nameserverScript}\n`;
}
