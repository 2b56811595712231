#!/bin/sh
# Wipes the disks that the plan names, one after another, and reports each. The first that cannot be wiped ends it all.
. /usr/lib/innkeeper/common
plan '.wipe[]' > /run/innkeeper/wipe
while IFS= read -r serial; do
  [ -n "$(disk_of "$serial")" ] || failed "there is no disk with the serial number $serial, or there are several"
done < /run/innkeeper/wipe
while IFS= read -r serial; do
  step "wipe $serial"
  rm -f /run/innkeeper/wiped
  wipe "$(disk_of "$serial")" "$serial" < /dev/null > /run/innkeeper/wiped 2> /run/innkeeper/words
  ended=$?
  # A program of ours that died has not said what became of the disk.
  jq -ce '. + {kind: "wiped"}' /run/innkeeper/wiped > /run/innkeeper/report 2>/dev/null && [ -s /run/innkeeper/report ] ||
    failed "wiping the disk $serial broke off: $(tail -n 1 /run/innkeeper/words | cut -c1-300)"
  send /run/innkeeper/report
  case $? in
    0) ;;
    22) failed "what became of the disk $serial was refused" ;;
    *) exit $anew ;;
  esac
  [ $ended = 0 ] || failed "the disk $serial could not be wiped"
done < /run/innkeeper/wipe
