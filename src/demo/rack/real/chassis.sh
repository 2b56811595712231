#!/bin/sh
# The mains, the buttons and the boot choice of one server, as its BMC presses them: `ipmi_sim` calls this by its own conventions
# (`get power`, `set boot pxe`), and so does the Redfish stand-in. RACK_RUN is the folder of the server, RACK_SERVER the program that is
# it: `start` runs it in the foreground with RACK_BOOT (network, disk) and RACK_FIRMWARE (bios, uefi), `button` presses its power button.
# In the folder: `pid`, `boot`, `firmware`, `starts` (what each began from), `says-yes` (it does nothing), `fail-power` (power does not come).
run=${RACK_RUN:?}
# One that is dead and that nobody has buried yet does not run.
runs() { [ -s "$run/pid" ] && grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$(cat "$run/pid")/status"; }
on() {
  runs && return 0
  [ -e "$run/fail-power" ] && exit 1
  from=disk
  [ "$(cat "$run/boot" 2>/dev/null)" = pxe ] && from=network
  echo none >"$run/boot"
  echo "$from" >>"$run/starts"
  RACK_BOOT=$from RACK_FIRMWARE=$(cat "$run/firmware" 2>/dev/null || echo bios) setsid "$RACK_SERVER" start </dev/null >>"$run/server.log" 2>&1 &
  echo $! >"$run/pid"
}
off() {
  runs && kill -9 "$(cat "$run/pid")"
  while runs; do sleep 0.02; done
  rm -f "$run/pid"
}
lies() { [ -e "$run/says-yes" ]; }
# The first word of ipmi_sim's is the controller's address.
case $1 in 0x*) shift ;; esac
verb=$1
shift
while [ $# -gt 0 ]; do
  case "$verb $1" in
    'get power') if runs; then echo power:1; else echo power:0; fi ;;
    'get boot') echo "boot:$(cat "$run/boot" 2>/dev/null || echo none)" ;;
    'get '*) echo "$1:0" ;;
    'set power') lies || if [ "$2" = 1 ]; then on; else off; fi ;;
    'set reset') lies || ! runs || { off && on; } ;;
    'set shutdown') lies || ! runs || "$RACK_SERVER" button </dev/null >>"$run/server.log" 2>&1 ;;
    'set boot') lies || echo "$2" >"$run/boot" ;;
    'set firmware') echo "$2" >"$run/firmware" ;;
  esac || exit 1
  [ "$verb" = set ] && shift
  shift
done
