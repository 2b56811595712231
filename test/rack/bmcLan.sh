#!/bin/sh
# What ipmi_sim asks about its network port, by its own conventions: `bmcLan.sh ADDRESS get ip_addr subnet_mask …`. Nothing of it is set.
address=$1
[ "$2" = get ] || exit 0
shift 2
for each in "$@"; do
  case $each in
    ip_addr) echo "ip_addr:$address" ;;
    ip_addr_src) echo ip_addr_src:static ;;
    mac_addr) echo mac_addr:52:54:00:00:00:b1 ;;
    subnet_mask) echo subnet_mask:255.255.255.0 ;;
    *_mac_addr) echo "$each:00:00:00:00:00:00" ;;
    *) echo "$each:0.0.0.0" ;;
  esac
done
