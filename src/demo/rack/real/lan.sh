#!/bin/sh
# What ipmi_sim asks about its network port, by its own conventions: `lan.sh ADDRESS MAC get ip_addr subnet_mask …`. Nothing of it is set.
address=$1
mac=$2
[ "$3" = get ] || exit 0
shift 3
for each in "$@"; do
  case $each in
    ip_addr) echo "ip_addr:$address" ;;
    ip_addr_src) echo ip_addr_src:static ;;
    mac_addr) echo "mac_addr:$mac" ;;
    subnet_mask) echo subnet_mask:255.255.255.0 ;;
    *_mac_addr) echo "$each:00:00:00:00:00:00" ;;
    *) echo "$each:0.0.0.0" ;;
  esac
done
