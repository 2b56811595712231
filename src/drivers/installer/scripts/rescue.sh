#!/bin/sh
# The rescue system: this one, in memory, with the customer's keys, at the customer's addresses. No disk is mounted, assembled or written to.
. /usr/lib/innkeeper/common
mkdir -p -m 0700 /root/.ssh /etc/dropbear
plan '.keys[]' > /root/.ssh/authorized_keys
chmod 0600 /root/.ssh/authorized_keys
hash=$(plan '.passwordHash // "*"')
printf 'root:%s:19000:0:99999:7:::\n' "$hash" > /etc/shadow
chmod 0600 /etc/shadow
hostname "$(plan .hostname)"
line=$(said serial)
mac=$(plan .mac)
plan '.nameservers[] | "nameserver " + .' > /etc/resolv.conf
# Family, address, length of the prefix, gateway, as systems get them that are installed.
plan '.addresses[] | "\(.family) \(.address) \(.prefix) \(.gateway)"' > /run/network
# What opens the product is no customer's: our last call is over, and what it was made with gone, before anybody is let in.
report done '{kind: $kind}'
rm -rf /run/innkeeper
[ -s /run/network ] && for port in /sys/class/net/*; do
  [ "$(cat "$port/address")" = "$mac" ] || continue
  port=${port##*/}
  # The address by which it called us is the product's.
  ip addr flush dev "$port"
  ip route flush dev "$port"
  while read -r family address prefix gateway; do
    ip "-$family" addr add "$address/$prefix" dev "$port"
    ip "-$family" route add "$gateway" dev "$port" 2>/dev/null
    ip "-$family" route add default via "$gateway" dev "$port"
  done < /run/network
done
dropbear -R
say 'the rescue system is there'
trap '' INT
while :; do getty -L 115200 "${line:-ttyS0}" vt100 || sleep 5; done
