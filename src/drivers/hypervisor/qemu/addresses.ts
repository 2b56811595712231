import type { Nic, NicAddress } from '../contract.ts';

/**
 * Arguments of {@link addressScript}: the device's MAC, then the addresses to take away and those to have, the
 * primary one first. Values have passed `checkSpec`.
 */
export function addressArguments({ mac, addresses }: Nic, former: readonly NicAddress[]): string[] {
  const line = (word: 'drop' | 'have') => (each: NicAddress) =>
    `${word} ${each.family} ${each.address} ${each.prefix} ${each.gateway}`;
  return [mac, ...former.map(line('drop')), ...addresses.map(line('have'))];
}

/**
 * Brings the guest's network device to these addresses. Those that go are first, since one that goes may take
 * others of its network along. A device that the guest has made part of a bridge gets them at the bridge.
 *
 * What is given here by hand is lost when systemd-networkd takes the device up again, so what its own file for
 * the device does not say is said in a drop-in beside it; that file may be netplan's or cloud-init's, and stays
 * as it is.
 */
export const addressScript = `set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
umask 022
mac=$1
shift
device=
for each in /sys/class/net/*; do
  if [ -e "$each/device" ] && [ "$(cat "$each/address")" = "$mac" ]; then device=\${each##*/}; fi
done
if [ -z "$device" ]; then
  echo "no network device has the address $mac" >&2
  exit 1
fi
if [ -d "/sys/class/net/$device/master/bridge" ]; then
  device=$(basename "$(readlink -f "/sys/class/net/$device/master")")
fi

printf '%s\\n' "$@" | while read -r word family address prefix gateway; do
  if [ "$word" = drop ]; then
    ip "-$family" addr del "$address/$prefix" dev "$device" 2>/dev/null || :
    continue
  fi
  ip "-$family" addr replace "$address/$prefix" dev "$device"
  if ! ip "-$family" route | grep -q '^default'; then
    ip "-$family" route add "$gateway" dev "$device" 2>/dev/null || :
    ip "-$family" route add default via "$gateway" dev "$device"
  fi
done

state=/run/systemd/netif/links/$(cat "/sys/class/net/$device/ifindex")
file=$(sed -n 's/^NETWORK_FILE=//p' "$state" 2>/dev/null) || :
if [ -n "$file" ]; then
  own=/etc/systemd/network/\${file##*/}.d/50-addresses.conf
  mkdir -p "\${own%/*}"
  printf '%s\\n' "$@" | {
    routed=
    while read -r word family address prefix gateway; do
      if [ "$word" = drop ] || grep -qxF "Address=$address/$prefix" "$file"; then continue; fi
      printf '[Address]\\nAddress=%s/%s\\n\\n' "$address" "$prefix"
      case $family in 4) known='^Gateway=[0-9.]*$' ;; *) known='^Gateway=.*:' ;; esac
      case $routed in *$family*) continue ;; esac
      routed=$routed$family
      if ! grep -q "$known" "$file"; then
        printf '[Route]\\nGateway=%s\\nGatewayOnLink=yes\\n\\n' "$gateway"
      fi
    done
  } > "$own.new"
  if [ -s "$own.new" ]; then mv "$own.new" "$own"; else rm -f "$own.new" "$own"; fi
fi
sync`;

/**
 * The same as vendor data that cloud-init runs at every boot, before SSH answers: it reads what a seed says of the
 * network only when the guest is new. Nothing of it is chosen by a customer, and `checkSpec` knows its alphabet.
 */
export function addressBootHook(nic: Nic, former: readonly NicAddress[]): string {
  const quoted = addressArguments(nic, former).map((argument) => `'${argument}'`);
  return `#cloud-boothook\n#!/bin/sh\nset -- ${quoted.join(' ')}\n${addressScript}\n`;
}
