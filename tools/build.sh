#!/bin/bash
# Configures and builds one preset, all of it or the targets named: tools/build.sh release [weir].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift

# Configuring again each time keeps the commit that `weir --version` names true; it takes a second.
timeout_s=600
if [ -n "${WEIR_LONG-}" ]; then timeout_s=14400; fi
cmake --preset "$preset" --log-level=WARNING -DWEIR_TEST_TIMEOUT_S=$timeout_s >/dev/null
cmake --build "build/$preset" --parallel "${JOBS:-$(nproc)}" ${1:+--target "$@"}
