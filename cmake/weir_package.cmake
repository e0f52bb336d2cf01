# Filled by `make package`: see tools/package.sh.
