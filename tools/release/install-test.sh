#!/usr/bin/env bash
# Installs the packages of a release on a temporary copy of this Debian, uses them as an operator would, upgrades, removes and purges them:
# install-test.sh DIRECTORY. The copy is an overlay in its own mount and process namespaces; the machine itself does not change.
set -euo pipefail
here=$(realpath "$0")
if [ "${2:-}" != inside ]; then
  [ "$(id -u)" = 0 ] && command -v dpkg >/dev/null && command -v unshare >/dev/null || { echo "not run: installing packages needs root on a Debian" >&2; exit 3; }
  exec unshare --mount --pid --fork --kill-child --mount-proc "$here" "$(realpath "$1")" inside
fi
packages=$1

# Writes go to memory. No systemd runs inside.
space=$(mktemp -d)
mount -t tmpfs -o size=2g none "$space"
mkdir "$space"/{upper,work,root}
mount -t overlay -o "lowerdir=/,upperdir=$space/upper,workdir=$space/work" none "$space/root"
root=$space/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/run"
mount -t tmpfs none "$root/tmp"
trap 'umount -R "$space" 2>/dev/null || umount -Rl "$space"; rmdir "$space"' EXIT

inside() { chroot "$root" "$@"; }
user=(chroot "$root" setpriv --reuid=carve --regid=carve --clear-groups env -i PATH=/usr/bin:/bin)
must() { "$@" || { echo "FAILED: $*" >&2; exit 1; }; }
step() { echo "--- $*"; }
port=$((20000 + RANDOM % 10000))
server=

# systemd's work: the unit's command, as its user, with its environment file.
start() {
  local command
  command=$(sed -n 's/^ExecStart=//p' "$root/usr/lib/systemd/system/carve-server.service")
  mapfile -t settings < <(grep -v '^#' "$root/etc/carve/server.env" | grep .)
  "${user[@]}" "${settings[@]}" sh -c "cd /var/lib/carve && umask 0077 && exec $command" >"$space/server.log" 2>&1 &
  server=$!
  for _ in $(seq 1500); do
    curl -fsS "http://127.0.0.1:$port/readyz" >/dev/null 2>&1 && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.2
  done
  cat "$space/server.log" >&2
  exit 1
}
stop() { kill "$server" && must wait "$server"; }
ipamctl() { "${user[@]}" HOME=/tmp CARVE_SERVER="http://127.0.0.1:$port" CARVE_API_KEY_FILE=/var/lib/carve/admin-key CARVE_PROJECT=platform ipamctl "$@"; }

mkdir "$root/tmp/one" "$root/tmp/two"
cp "$packages"/{ipamctl,carve-server}_*_"$(dpkg --print-architecture)".deb "$root/tmp/one"
# The next version: the same files with another number.
for deb in "$root"/tmp/one/*.deb; do
  dpkg-deb -R "$deb" "$root/tmp/next"
  sed -i 's/^Version: .*/Version: 99.0.0-1/' "$root/tmp/next/DEBIAN/control"
  dpkg-deb -Zgzip -z1 -b "$root/tmp/next" "$root/tmp/two/$(basename "$deb")" >/dev/null
  rm -r "$root/tmp/next"
done

step install
must inside sh -c 'dpkg -i /tmp/one/*.deb'
must inside sh -c 'systemd-analyze verify --man=no carve-server.service'
must [ "$(inside stat -c '%U %a' /var/lib/carve)" = 'carve 750' ]
must [ "$(inside stat -c '%U %a' /etc/carve/server.env)" = 'root 640' ]
must inside sh -c 'getent passwd carve | grep -q nologin'

step start, and use
sed -i "s/^CARVE_LISTEN=.*/CARVE_LISTEN=127.0.0.1:$port/" "$root/etc/carve/server.env"
start
must ipamctl pool create corp --cidr 10.0.0.0/8
block=$(ipamctl claim create web --pool corp --prefix-length 24 -q)
ipamctl version

step upgrade with the data kept
stop
must inside sh -c 'dpkg -i /tmp/two/*.deb'
must grep -q "127.0.0.1:$port" "$root/etc/carve/server.env"
start
must [ "$(ipamctl claim get web -q)" = "$block" ]
must inside ipamctl audit --data-dir /var/lib/carve/data >/dev/null

step remove
stop
must inside dpkg -r carve-server
must [ ! -e "$root/usr/bin/carve-server" ]
must [ -e "$root/etc/carve/server.env" ]
must [ -d "$root/var/lib/carve/data" ]

step install again
must inside sh -c 'dpkg -i /tmp/one/carve-server_*.deb'
start
must [ "$(ipamctl claim get web -q)" = "$block" ]
stop

step purge
must inside dpkg -P carve-server ipamctl
must [ ! -e "$root/etc/carve" ]
must [ -d "$root/var/lib/carve/data" ]

# RPM does not know the packages that Debian installed, a shell for instance: --nodeps.
rpms="without RPM, which is not here"
if inside sh -c 'command -v rpm' >/dev/null; then
  step RPM
  mkdir "$root/tmp/rpm"
  cp "$packages"/{ipamctl,carve-server}-*."$(uname -m)".rpm "$root/tmp/rpm"
  must inside sh -c 'rpm -i --nodeps /tmp/rpm/*.rpm'
  must [ "$(inside rpm -qc carve-server)" = /etc/carve/server.env ]
  must inside rpm -V --nodeps carve-server ipamctl
  echo '# mine' >>"$root/etc/carve/server.env"
  sed -i "s/^CARVE_LISTEN=.*/CARVE_LISTEN=127.0.0.1:$port/" "$root/etc/carve/server.env"
  start
  must [ "$(ipamctl claim get web -q)" = "$block" ]
  stop
  must inside rpm -e --nodeps carve-server ipamctl
  must [ ! -e "$root/usr/bin/carve-server" ]
  must grep -q '# mine' "$root/etc/carve/server.env.rpmsave"
  must [ -d "$root/var/lib/carve/data" ]
  rpms='as RPMs too'
fi
echo "installed, used, upgraded, removed and purged; $block was kept throughout, $rpms"
