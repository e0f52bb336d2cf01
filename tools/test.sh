#!/bin/bash
# Builds and tests presets, in the order given: tools/test.sh asan release.
# Every preset runs even if one before it failed. Results stay in build/<preset>/tests.xml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${1:?name a preset}"
failed=0
for preset in "$@"; do
  started=$SECONDS
  echo "== $preset: build"
  if ! tools/build.sh "$preset"; then
    echo "== $preset: does not build" >&2
    failed=1
    continue
  fi
  built=$SECONDS
  echo "== $preset: test"
  log=build/$preset/tests.log
  if ! ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --parallel "${JOBS:-$(nproc)}" --output-junit tests.xml </dev/null 2>&1 | tee "$log"; then
    failed=1
  fi
  echo
  if ! python3 tools/label_times.py "build/$preset" tools/label_budget.txt \
    --build-seconds $((built - started)); then
    failed=1
  fi
done
exit $failed
