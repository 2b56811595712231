#!/bin/sh
# Wipes the disks that the plan names, one after another, and reports each. The first that cannot be wiped ends it all.
. /usr/lib/innkeeper/common
plan '.wipe[]' > /run/innkeeper/wipe
while IFS= read -r serial; do
  [ -n "$(disk_of "$serial")" ] || failed "there is no disk with the serial number $serial, or there are several"
done < /run/innkeeper/wipe
while IFS= read -r serial; do
  step "wipe $serial"
  wipe "$(disk_of "$serial")" "$serial" > /run/innkeeper/wiped
  ended=$?
  jq -c '. + {kind: "wiped"}' /run/innkeeper/wiped | call report -H 'content-type: application/json' --data-binary @- > /dev/null || exit 1 # nobody knows of it: all is begun anew
  [ $ended = 0 ] || failed "the disk $serial could not be wiped"
done < /run/innkeeper/wipe
