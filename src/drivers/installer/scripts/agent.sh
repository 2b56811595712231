#!/bin/sh
# What the installer does: says who it is, what the server has, and then what the plan tells it.
. /usr/lib/innkeeper/common

# Our own secret, over TLS, takes the place of the boot script's token, which went over the network in the clear.
secret=$(head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n')
printf 'insecure\npinnedpubkey = "%s"\nheader = "authorization: Bearer %s"\n' "$(said key)" "$(said token)" > /run/innkeeper/calls
jq -nc --arg secret "$secret" '{secret: $secret}' > /run/innkeeper/claim
nonce=$(call claim -H 'content-type: application/json' --data-binary @/run/innkeeper/claim | jq -r .nonce)
rm -f /run/innkeeper/claim
[ -n "$nonce" ] || { say 'nobody knows this start'; exit 1; }
printf 'insecure\npinnedpubkey = "%s"\nheader = "authorization: Bearer %s"\n' "$(said key)" "$secret" > /run/innkeeper/calls
line=$(said serial)
# That this is the machine behind its BMC: what goes out over its serial line nobody on the network can know.
prove() { printf '\r\nINNKEEPER-PROOF %s\r\n' "$nonce" > "/dev/${line:-ttyS0}"; }
prove

say inventory
inventory > /run/innkeeper/inventory
jq '{disks: [.disks[] | {name, serial: .smart.serial_number}]}' /run/innkeeper/inventory > /run/innkeeper/disks
send /run/innkeeper/inventory || failed 'the inventory was refused'

while :; do
  call plan > /run/innkeeper/plan || exit 1
  case $(plan .task) in
    wait) ;;
    bmc) set_bmc ;;
    *) break ;;
  esac
  prove
  sleep 2
done

say "task: $(plan .task)"
# Large drives are formatted for longer than the minute that the kernel waits; the program of Debian asks it for more, and its library does not say so.
slow=/sys/module/nvme_core/parameters/admin_timeout
[ ! -w $slow ] || echo 7200 > $slow
case $(plan .task) in
  wipe) wipe_all ;;
  install)
    case $(plan '.image.disk | type') in object) with=install_disk ;; *) with=install_tree ;; esac
    wipe_all && $with
    ;;
  rescue) exec rescue ;;
  restart) ;;
  *) failed "the task $(plan .task) is not known here" ;;
esac || {
  # Whatever ended without a word of its own is told of here.
  [ $? = $anew ] || [ -e /run/innkeeper/failed ] || failed "it broke off at: $(cat /run/innkeeper/step)"
  exit 1
}
report done '{kind: $kind}'
