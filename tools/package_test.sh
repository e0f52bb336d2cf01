#!/bin/bash
# Tries the tarball and the .deb that tools/package.sh made, each in a clean Debian 12: the tarball
# on the bare base system from a folder of any name, the .deb with apt and only what it asks for.
# Needs root, and the package sources this machine uses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ "$(id -u)" = 0 ] || { echo "package_test: needs root for chroot" >&2; exit 1; }
work=$(mktemp -d)
readonly work
CleanUp() {
  umount "$work/root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap CleanUp EXIT

# Where this machine gets Debian 12 itself from.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Label: Debian' |
  awk 'NR == 1')

# Checks that the program at $1 in the clean system says its version, and its libraries are found.
Check() {
  local said
  said=$(chroot "$work/root" "$1" --version)
  echo "$said"
  grep -q "$version" <<<"$said" || { echo "package_test: $1 does not say $version" >&2; exit 1; }
}

version=$(sed -n 's/^project(weir VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
echo "== a clean Debian 12"
debootstrap --variant=minbase bookworm "$work/root" "$mirror" >"$work/debootstrap.log" ||
  { tail "$work/debootstrap.log" >&2; exit 1; }
mount -t proc proc "$work/root/proc"

echo "== tarball"
mkdir -p "$work/root/srv/any folder"
tar -xzf "build/weir-$version-linux-x86_64.tar.gz" -C "$work/root/srv/any folder"
Check "/srv/any folder/weir-$version-linux-x86_64/bin/weir"
cmp LICENSE "$work/root/srv/any folder/weir-$version-linux-x86_64/LICENSE"
rm -rf "$work/root/srv/any folder"

echo "== deb"
cp "build/weir_${version}_amd64.deb" "$work/root/weir.deb"
cp /etc/resolv.conf "$work/root/etc/resolv.conf"
{
  chroot "$work/root" apt-get -qq -o Acquire::Retries=3 update
  chroot "$work/root" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends /weir.deb
} >"$work/apt.log" 2>&1 || { tail "$work/apt.log" >&2; exit 1; }
Check /usr/bin/weir
grep -q libparquet "$work/root/usr/share/doc/weir/copyright"
[ -s "$work/root/usr/share/doc/weir/licences/arrow.txt" ]
chroot "$work/root" dpkg --remove weir >/dev/null
if [ -e "$work/root/usr/lib/weir" ]; then echo "package_test: removal leaves files" >&2; exit 1; fi
echo "both packages run on a clean Debian 12"
