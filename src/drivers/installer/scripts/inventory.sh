#!/bin/sh
# What the server has, in the words of the programs that looked; one JSON document, without the serial numbers of nothing.
cd /run/innkeeper || exit 1
lsblk -Jbdo NAME,TYPE,SIZE,ROTA,TRAN,LOG-SEC,RO > lsblk
: > disks.jsonl
for name in $(jq -r '.blockdevices[] | select(.type == "disk" and .size > 0) | .name' lsblk); do
  smartctl -j -i -H -A "/dev/$name" > smart 2>/dev/null
  jq -e . smart > /dev/null 2>&1 || echo '{}' > smart
  nvme=null
  case $name in nvme*) nvme=$(nvme id-ctrl -o json "/dev/${name%n*}" 2>/dev/null | jq -c '{sanicap, oacs, fna}') ;; esac
  jq -c --arg name "$name" --slurpfile smart smart --argjson nvme "${nvme:-null}" \
    '.blockdevices[] | select(.name == $name) | . + {smart: $smart[0], nvme: $nvme}' lsblk >> disks.jsonl
done
lscpu -J > lscpu
ip -j link > links
# What port and switch agreed on; of one without a cable, and of some virtual ones, nobody knows.
for port in /sys/class/net/*; do printf '%s %s\n' "${port##*/}" "$(cat "$port/speed" 2>/dev/null)"; done > speeds
dmidecode -q -t memory > memory 2>/dev/null
ipmitool -I open mc info > bmc 2>/dev/null && for channel in 1 8 2 3 4 5 6 7; do
  ipmitool -I open lan print $channel > lan 2>/dev/null
  # The first that has an address.
  grep -q '^IP Address  *: *[0-9]' lan && ! grep -q '^IP Address  *: *0\.0\.0\.0' lan && { cat lan >> bmc; break; }
done
# What its firmware starts, in order, as it keeps that; BIOS shows nothing of it.
: > efi
for variable in /sys/firmware/efi/efivars/BootOrder-8be4df61-* /sys/firmware/efi/efivars/Boot[0-9A-F][0-9A-F][0-9A-F][0-9A-F]-8be4df61-*; do
  [ -r "$variable" ] || continue
  name=${variable##*/}
  printf '%s %s\n' "${name%%-*}" "$(head -c 2048 "$variable" | od -An -v -tx1 | tr -d ' \n')"
done | head -n 80 >> efi
jq -nc --slurpfile disks disks.jsonl --slurpfile lscpu lscpu --slurpfile links links \
  --rawfile memory memory --rawfile bmc bmc --rawfile efi efi --rawfile speeds speeds \
  --arg uuid "$(cat /sys/class/dmi/id/product_uuid)" --arg vendor "$(cat /sys/class/dmi/id/sys_vendor)" \
  --arg product "$(cat /sys/class/dmi/id/product_name)" --arg serial "$(cat /sys/class/dmi/id/product_serial)" \
  --arg firmware "$(cat /sys/class/dmi/id/bios_version)" --arg kib "$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo)" \
  --arg boot "$([ -d /sys/firmware/efi ] && echo uefi || echo bios)" \
  '{kind: "inventory", system: {uuid: $uuid, vendor: $vendor, product: $product, serial: $serial, firmware: $firmware, boot: $boot},
    memory_kib: ($kib | tonumber), memory: $memory, lscpu: $lscpu[0].lscpu, links: $links[0], disks: $disks, bmc: $bmc, efi: $efi, speeds: $speeds}'
