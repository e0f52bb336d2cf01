#!/bin/bash
# Makes build/weir-<version>-linux-x86_64.tar.gz and build/weir_<version>_amd64.deb from
# build/release.
#
# The tarball holds bin/weir and in lib/ esbuild and every shared library it needs but the C
# library's, so it runs from any folder on a system with glibc 2.36 or newer. The package holds only
# esbuild, Arrow and Parquet, which Debian does not have or not new enough, and depends on Debian's
# packages for the rest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BINARY=build/release/weir
readonly STAGE=build/package
# Debian packages whose headers are compiled into the program.
readonly HEADER_PACKAGES=(
  libcli11-dev libfmt-dev libspdlog-dev libxxhash-dev libyaml-cpp-dev nlohmann-json3-dev)
# What belongs to the C library, and must come from the system it runs on.
readonly SYSTEM_LIBRARIES='^(linux-vdso|ld-linux-x86-64|lib(c|m|dl|rt|pthread|resolv|util|anl))\.so'

Fail() {
  echo "package: $*" >&2
  exit 1
}

# "name path" of each shared library the program loads, the C library's left out.
SharedLibraries() {
  local listing
  listing=$(ldd "$BINARY")
  if grep 'not found' <<<"$listing" >&2; then Fail "$BINARY lacks libraries"; fi
  awk '$2 == "=>" {print $1, $3}' <<<"$listing" | grep -Ev "$SYSTEM_LIBRARIES"
}

# Puts the licence of the package that owns a library into a folder.
AddLicence() {
  local path owner
  path=$(realpath "$1")
  case "$path" in
    */build/release/lib/*)
      cp build/venv/lib/python3*/site-packages/pyarrow-*.dist-info/licenses/LICENSE.txt \
        "$2/arrow.txt"
      cp build/venv/lib/python3*/site-packages/pyarrow-*.dist-info/licenses/NOTICE.txt \
        "$2/arrow-notice.txt"
      return ;;
  esac
  owner=$(dpkg -S "$path" 2>/dev/null || dpkg -S "${path#/usr}") || Fail "no package owns $path"
  owner=${owner%%:*}
  cp "/usr/share/doc/$owner/copyright" "$2/$owner.txt"
}

# Adds esbuild, which makes JavaScript of stored scripts, and the licences of what
# build/third_party gave: QuickJS-ng is compiled into the program.
AddThirdParty() {
  install -m 755 build/release/lib/esbuild "$1/lib/esbuild"
  local source
  source=$(echo build/third_party/quickjs-ng-*/upstream-quickjs/quickjs.c)
  sed -n '1,/\*\//p' "$source" >"$1/licences/quickjs-ng.txt"
  # esbuild's package names the MIT License and lacks its text, which is QuickJS-ng's too.
  {
    echo "Copyright (c) 2020 Evan Wallace"
    echo
    sed -n '/Permission is hereby/,/\*\//s/^ \* \{0,1\}//p' "$source" | sed '$d'
  } >"$1/licences/esbuild.txt"
}

# Copies the program and the libraries named on standard input ("name path") to $1.
Stage() {
  local root=$1 name path package
  mkdir -p "$root/bin" "$root/lib" "$root/licences"
  install -m 755 "$BINARY" "$root/bin/weir"
  strip "$root/bin/weir"
  while read -r name path; do
    install -m 644 "$path" "$root/lib/$name"
    strip --strip-unneeded "$root/lib/$name"
    AddLicence "$path" "$root/licences"
  done
  AddThirdParty "$root"
  for package in "${HEADER_PACKAGES[@]}"; do
    cp "/usr/share/doc/$package/copyright" "$root/licences/$package.txt"
  done
  cp README.md LICENSE "$root/"
}

# Says what the Debian package at $1 holds and under which licences. Its libraries are those named
# here; Stage gave it their texts.
WriteCopyright() {
  local library
  for library in "$1"/usr/lib/weir/lib/*; do
    case "${library##*/}" in
      libarrow.so*|libparquet.so*|esbuild) ;;
      *) Fail "the copyright file does not tell the licence of ${library##*/}" ;;
    esac
  done
  [ -s "$1/usr/share/doc/weir/licences/arrow.txt" ] || Fail "Arrow's licence is not packed"
  cat >"$1/usr/share/doc/weir/copyright" <<END
weir
Copyright 2026 the weir authors
Licensed under the Apache License, version 2.0.

/usr/lib/weir/lib holds Apache Arrow C++ and Parquet C++ (libarrow, libparquet), as built for the
pyarrow wheel.
Copyright the Apache Software Foundation and others
Licensed under the Apache License, version 2.0. The licences of what is built into them are in
/usr/share/doc/weir/licences/arrow.txt, the notices in arrow-notice.txt beside it.

/usr/lib/weir/lib/esbuild is the program of the npm package @esbuild/linux-x64.
Copyright (c) 2020 Evan Wallace
Licensed under the MIT License; its text is in /usr/share/doc/weir/licences/esbuild.txt.

QuickJS-ng is compiled into /usr/lib/weir/bin/weir.
Copyright Fabrice Bellard, Charlie Gordon, Ben Noordhuis, Saul Ibarra Corretge and others
Licensed under the MIT License; its text is in /usr/share/doc/weir/licences/quickjs-ng.txt.

Headers of these Debian packages are compiled into /usr/lib/weir/bin/weir; their licences are beside
those: ${HEADER_PACKAGES[*]}.

The text of the Apache License, version 2.0, is in /usr/share/common-licenses/Apache-2.0.
END
}

MakeTarball() {
  local name=weir-$version-linux-x86_64
  SharedLibraries | Stage "$STAGE/$name"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    -C "$STAGE" -cf - "$name" | gzip -n >"build/$name.tar.gz"
  echo "build/$name.tar.gz"
}

MakeDeb() {
  local root=$STAGE/deb depends
  SharedLibraries | grep '/build/release/lib/' | Stage "$root/usr/lib/weir"
  mkdir -p "$root/usr/bin" "$root/usr/share/doc/weir" "$root/DEBIAN" "$STAGE/debian"
  ln -s ../lib/weir/bin/weir "$root/usr/bin/weir"
  mv "$root/usr/lib/weir/licences" "$root/usr/lib/weir/README.md" "$root/usr/share/doc/weir/"
  rm "$root/usr/lib/weir/LICENSE"  # Debian's copy of it is named in the copyright file.
  WriteCopyright "$root"
  touch "$STAGE/debian/control"  # dpkg-shlibdeps wants to stand in a source package.
  depends=$(cd "$STAGE" && dpkg-shlibdeps -O -l"deb/usr/lib/weir/lib" \
    "deb/usr/lib/weir/bin/weir" deb/usr/lib/weir/lib/*.so* 2>build.log) ||
    Fail "$(cat "$STAGE/build.log")"
  cat >"$root/DEBIAN/control" <<END
Package: weir
Version: $version
Architecture: amd64
Maintainer: the weir authors <weir@example.org>
Section: database
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: ${depends#shlibs:Depends=}
Suggests: postgresql-15
Description: copy live PostgreSQL tables to Parquet without hurting the source
 weir lets a table through at a rate the database can stand, and records what each run cost it.
 With a PostgreSQL server installed, "weir demo" shows all of it on a private one.
END
  dpkg-deb --root-owner-group --build "$root" "build/weir_${version}_amd64.deb" >/dev/null
  echo "build/weir_${version}_amd64.deb"
}

[ -x "$BINARY" ] || Fail "no $BINARY: run make first"
version=$(sed -n 's/^project(weir VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ -n "$version" ] || Fail "CMakeLists.txt names no version"
SOURCE_DATE_EPOCH=$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH  # The same commit gives the same bytes.
rm -rf "$STAGE"
mkdir -p "$STAGE"
MakeTarball
MakeDeb
