#!/bin/bash
# Runs each fuzzer for some seconds: tools/fuzz.sh 60. What it finds new stays in
# build/fuzz/found/<fuzzer>; copy what is worth keeping into the folder's corpus, where the tests
# replay it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=$1

tools/build.sh fuzz
ran=0
for source in src/weir/*/*_fuzz.cc; do
  [ -e "$source" ] || continue
  fuzzer=$(basename "$source" .cc)
  if [ ! -x "build/fuzz/$fuzzer" ]; then
    echo "$fuzzer: not built under the fuzz preset" >&2
    exit 1
  fi
  found=build/fuzz/found/$fuzzer
  mkdir -p "$found"
  echo "== $fuzzer for $seconds s"
  "build/fuzz/$fuzzer" -max_total_time="$seconds" -artifact_prefix="$found/crash-" \
    "$found" "$(dirname "$source")/corpus/${fuzzer%_fuzz}"
  ran=$((ran + 1))
done
echo "$ran fuzzers ran, none found a failure"
