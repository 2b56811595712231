#!/bin/sh
# member.sh TREE STATE IMAGES ADDRESS: a host for one Incus daemon. Started in a network and a mount namespace of its own, it makes
# both ready and holds them; its network card, eth0, is moved in from outside. /run is kept in STATE too: with a new one, machines
# that run look stopped.
set -e
tree=$1 state=$2 images=$3 address=$4
mkdir -p "$state/var" "$state/log" "$state/run/lock" "$state/run/incus"
echo $$ > "$state/pid.new" && mv "$state/pid.new" "$state/pid"

mount --bind "$tree" "$tree"
cd "$tree"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup
mount -t tmpfs tmpfs dev
mkdir dev/pts dev/shm dev/net
mount -t devpts devpts dev/pts
for each in null zero full random urandom tty kvm net/tun vsock; do
  touch "dev/$each"
  [ ! -e "/dev/$each" ] || mount --bind "/dev/$each" "dev/$each"
done
touch dev/vhost-vsock
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs tmpfs tmp
mount --bind "$state/run" run
mount --bind "$state/var" var/lib/incus
mount --bind "$state/log" var/log/incus
mount --bind -o ro "$images" images

until [ -e sys/class/net/eth0 ]; do sleep 0.05; done
ip link set lo up
ip link add br0 type bridge
ip addr add "$address/24" dev br0
ip link set eth0 master br0 up
ip link set br0 up
touch "$state/ready"
exec sleep infinity
