#!/bin/sh
# Gives an account of ours, of the server's own BMC, the password of the plan, over the machine's own bus, so that nobody has to know
# the one that its maker gave it. Who else may sign in there stays as it is. May be repeated.
. /usr/lib/innkeeper/common
cd /run/innkeeper || exit 1
ended() {
  say "BMC: ${2:-it has our password}"
  report bmc --arg address "$1" --arg problem "$2" \
    '{kind: $kind, address: (if $address == "" then null else $address end), problem: (if $problem == "" then null else $problem end)}'
  exit 0
}
over() { ipmitool -I open "$@" 2> ipmi; }
tried() { over "$@" > /dev/null || ended '' "$1 $2: $(tail -n 1 ipmi | cut -c1-300)"; }

channel=
for each in 1 8 2 3 4 5 6 7; do
  address=$(over lan print $each | sed -n 's/^IP Address  *: *//p')
  case $address in '' | 0.0.0.0) ;; *) channel=$each; break ;; esac
done
[ -n "$channel" ] || ended '' 'it has no address on its network port'
user=$(plan .bmc.user)
over -c user list $channel > users || ended '' "its accounts cannot be listed: $(tail -n 1 ipmi | cut -c1-300)"
id=$(sed -n "s/^\([0-9]*\),$user,.*/\1/p" users | head -n 1)
if [ -z "$id" ]; then
  # The first is nobody's by the standard: who signs in with it gives no name.
  id=$(sed -n 's/^\([0-9]*\),,.*/\1/p' users | sed '/^1$/d' | head -n 1)
  [ -n "$id" ] || ended '' 'all of its accounts are taken: remove one'
  tried user set name "$id" "$user"
fi
# It asks for it twice, and without a terminal over its input: so it is in no argument.
password=$(plan .bmc.password)
printf '%s\n%s\n' "$password" "$password" | setsid ipmitool -I open user set password "$id" > /dev/null 2> ipmi ||
  ended '' "the password: $(tail -n 1 ipmi | cut -c1-300)"
tried channel setaccess $channel "$id" callin=off ipmi=on link=off privilege=4
tried user enable "$id"
# Its serial line over the network, which many give an account only when told.
over sol payload enable $channel "$id" > /dev/null
over sol set enabled true $channel > /dev/null
ended "$address" ''
