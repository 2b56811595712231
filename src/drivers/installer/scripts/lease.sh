#!/bin/sh
# What udhcpc calls with an address that it got.
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip addr flush dev "$interface"
ip addr add "$ip/$mask" dev "$interface"
for gateway in $router; do ip route replace default via "$gateway" && break; done
: > /etc/resolv.conf
for server in $dns; do printf 'nameserver %s\n' "$server" >> /etc/resolv.conf; done
