#!/usr/bin/env bash
# plot_test.py by a Python that can draw.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/lib.sh"
if ! python=$(plotting_python 2>/dev/null); then
  echo "skipped: no Python here has both h5py and matplotlib"
  exit 77
fi
exec "$python" "$(dirname "${BASH_SOURCE[0]}")/plot_test.py" "$repository/scripts/plot.py"
