#!/bin/bash
# Brings a Debian 12 machine to where weir builds: system packages, then build/venv with pinned
# wheels, then build/third_party with pinned sources and programs.
#
#   tools/setup.sh            what building and testing need
#   tools/setup.sh fuzz       and clang, for fuzzers
#   tools/setup.sh package    and the tools that make and try packages
#
# Safe to call at any time; with nothing to do it takes a fraction of a second. Needs root or sudo
# only when a system package is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly PACKAGES=(
  ca-certificates openssl git make g++ cmake ninja-build ccache lld python3 python3-venv
  libfmt-dev libspdlog-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev
  libxxhash-dev libzstd-dev liblz4-dev libpq-dev libpg-query-dev libssl-dev libsqlite3-dev
  libboost1.81-dev
  libgtest-dev postgresql-15 postgresql-client-15)
readonly FUZZ_PACKAGES=(clang-19 libclang-rt-19-dev llvm-19)
readonly PACKAGE_PACKAGES=(dpkg-dev debootstrap)
readonly PYTHON=/usr/bin/python3
readonly VENV=build/venv
readonly THIRD_PARTY=build/third_party
readonly STAMP=build/setup.stamp
readonly LOG=build/setup.log

Say() { echo "setup: $*"; }

Fail() {
  echo "setup: $*" >&2
  exit 1
}

# Prints the packages among "$@" that are not installed.
Missing() {
  local installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/ installed$//p') || true
  comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<<"$installed")
}

# Runs a command as root, with its output in the log.
AsRoot() {
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || Fail "needs root to install packages: run as root or install sudo"
    as_root=(sudo)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" </dev/null >>"$LOG" 2>&1 9>&-
}

# Tries a command three times. Mirrors fail for moments; a second try is cheap.
ThreeTimes() {
  local attempt
  for attempt in 1 2 3; do
    if "$@"; then return 0; fi
    Say "attempt $attempt of 3 failed: $*"
  done
  return 1
}

# Debian's package would start a cluster of its own, which nobody here needs.
KeepDebianFromStartingACluster() {
  local folder=/etc/postgresql-common/createcluster.d
  AsRoot mkdir -p "$folder"
  AsRoot sh -c "echo 'create_main_cluster = false' >$folder/weir.conf"
}

InstallPackages() {
  local missing
  mapfile -t missing < <(Missing "$@")
  if [ ${#missing[@]} = 0 ]; then return; fi
  [ -e /etc/debian_version ] || Fail "needs Debian 12; missing: ${missing[*]}"
  Say "installing ${#missing[@]} packages: ${missing[*]} (log: $LOG)"
  if [[ " ${missing[*]} " == *" postgresql-15 "* ]]; then KeepDebianFromStartingACluster; fi
  local apt=(apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  # A source that weir does not need may be down: what decides is whether the packages install.
  ThreeTimes AsRoot "${apt[@]}" update || Say "package lists may be old"
  if ! ThreeTimes AsRoot "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; then
    tail -n 20 "$LOG" >&2
    Fail "could not install packages; all of the output is in $LOG"
  fi
}

# True when build/venv holds the versions that requirements.txt names, and they load.
VenvIsGood() {
  [ -x "$VENV/bin/python3" ] || return 1
  "$VENV/bin/python3" - requirements.txt >/dev/null 2>&1 <<'END'
import importlib.metadata
import re
import sys
import duckdb, pyarrow.parquet
for name, version in re.findall(r"^(\S+)==(\S+)", open(sys.argv[1]).read(), re.M):
    assert importlib.metadata.version(name) == version, name
END
}

MakeVenv() {
  if VenvIsGood; then return; fi
  Say "making $VENV with the wheels of requirements.txt"
  rm -rf "$VENV"
  "$PYTHON" -m venv "$VENV" >>"$LOG" 2>&1 || Fail "cannot make $VENV; see $LOG"
  if ! "$VENV/bin/python3" -m pip install --disable-pip-version-check --quiet --retries 5 \
    --require-hashes --only-binary :all: -r requirements.txt </dev/null >>"$LOG" 2>&1; then
    tail -n 20 "$LOG" >&2
    Fail "could not install the wheels; all of the output is in $LOG"
  fi
  VenvIsGood || Fail "the wheels of requirements.txt do not load in $VENV"
}

# The folder of a package in build/third_party: UnpackedFolder @esbuild/linux-x64 0.28.2.
UnpackedFolder() { echo "$THIRD_PARTY/$(tr -d @ <<<"$1" | tr / -)-$2"; }

# Unpacks archive $2 into folder $1, which is there only once all of it is.
Unpack() {
  rm -rf "$1" "$1.part"
  mkdir -p "$1.part"
  tar -xzf "$2" -C "$1.part" --strip-components=1 --no-same-owner || Fail "cannot unpack $2"
  mv "$1.part" "$1"
}

# The C sources of QuickJS-ng, out of a source package of Python's.
FetchSources() {
  local name=quickjs-ng version folder downloads
  version=$(sed -n "s/^$name==\([^ ]*\).*/\1/p" requirements-sources.txt)
  folder=$(UnpackedFolder "$name" "$version")
  if [ -d "$folder" ]; then return; fi
  Say "fetching the sources of $name $version"
  downloads=$(mktemp -d)
  if ! "$VENV/bin/python3" -m pip download --disable-pip-version-check --quiet --retries 5 \
    --require-hashes --no-deps --no-binary :all: --no-build-isolation -d "$downloads" \
    -r requirements-sources.txt </dev/null >>"$LOG" 2>&1; then
    tail -n 20 "$LOG" >&2
    Fail "could not fetch the sources of $name; all of the output is in $LOG"
  fi
  Unpack "$folder" "$downloads/"*.tar.gz
  rm -rf "$downloads"
}

# One line of tools/npm_packages.txt: name, version, sha256.
FetchNpmPackage() {
  local folder downloads
  folder=$(UnpackedFolder "$1" "$2")
  if [ -d "$folder" ]; then return; fi
  Say "fetching $1 $2"
  downloads=$(mktemp -d)
  if ! ThreeTimes npm pack --silent --pack-destination "$downloads" "$1@$2" \
    </dev/null >>"$LOG" 2>&1; then
    tail -n 20 "$LOG" >&2
    Fail "could not fetch $1 $2; all of the output is in $LOG"
  fi
  sha256sum --check --quiet <<<"$3  $(echo "$downloads/"*.tgz)" >>"$LOG" 2>&1 ||
    Fail "$1 $2 is not what tools/npm_packages.txt says: its sha256 differs"
  Unpack "$folder" "$downloads/"*.tgz
  rm -rf "$downloads"
}

FetchNpmPackages() {
  local name version hash
  command -v npm >/dev/null || InstallPackages npm
  while read -r name version hash; do
    FetchNpmPackage "$name" "$version" "$hash"
  done < <(grep -v '^#' tools/npm_packages.txt)
}

packages=("${PACKAGES[@]}")
case "${1-}" in
  '') ;;
  fuzz) packages+=("${FUZZ_PACKAGES[@]}") ;;
  package) packages+=("${PACKAGE_PACKAGES[@]}") ;;
  *) Fail "unknown part '$1': say fuzz, package, or nothing" ;;
esac

mkdir -p build
exec 9>build/setup.lock
flock 9  # A second call waits for the first, then finds nothing to do.
InstallPackages "${packages[@]}"
want=$(sha256sum requirements.txt requirements-sources.txt tools/npm_packages.txt tools/setup.sh)
if [ -x "$VENV/bin/python3" ] && [ -d "$THIRD_PARTY" ] &&
  [ "$(cat "$STAMP" 2>/dev/null)" = "$want" ]; then exit 0; fi
MakeVenv
FetchSources
FetchNpmPackages
echo "$want" >"$STAMP"
