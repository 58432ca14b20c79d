#!/usr/bin/env bash
# Unpacks Debian's prometheus and promtool into bin/prometheus without installing them, so that nothing starts by itself. Programs on PATH are used
# instead if present.
set -euo pipefail
cd "$(dirname "$0")/../.."
if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  exit 0
fi
if [ -x bin/prometheus/usr/bin/prometheus ] && [ -x bin/prometheus/usr/bin/promtool ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
  echo 'There is no prometheus and promtool on PATH, and this is no Debian to take them from.' >&2
  exit 1
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
chmod 755 "$fresh"
if ! (cd "$fresh" && apt-get download -qq prometheus 2>/dev/null); then
  [ "$(id -u)" != 0 ] || apt-get update -qq
  (cd "$fresh" && apt-get download -qq prometheus)
fi
dpkg -x "$fresh"/prometheus_*.deb "$fresh/unpacked"
mkdir -p bin
rm -rf bin/prometheus
mv "$fresh/unpacked" bin/prometheus
