#!/usr/bin/env bash
# Draws those pictures of README and docs that show results and not figures: of the mini-apps, and of a placement.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/pictures.sh

Runs the mini-apps with 4 ranks on their inputs, in out/pictures, places a grid of ranks on a fat tree, and writes docs/images:
jacobi-field.png, jacobi-convergence.png, md-droplet.png, sgd-digits.png, placement-fat-tree.png.
EOF
}

out=$repository/out/pictures
images=$repository/docs/images

run_app() {
  local app=$1 input=$2
  shift 2
  OMP_NUM_THREADS=1 mpirun --oversubscribe --bind-to none -n 4 "build/serial/apps/$app/$app" "inputs/$app/$input.toml" \
    --out "$out/$app" --quiet "$@"
  "$python" scripts/plot.py "$app" "$out/$app" >>"$out/plot.log"
}

draw_apps() {
  run_app jacobi dirichlet
  cp "$out/jacobi/field.png" "$images/jacobi-field.png"
  cp "$out/jacobi/convergence.png" "$images/jacobi-convergence.png"
  run_app md droplet --set output.trajectory_every=500
  cp "$out/md/atoms.png" "$images/md-droplet.png"
  "$("$repository/scripts/deps.sh" --digits)" scripts/make-digits.py --out "$out/digits.h5"
  run_app sgd digits --set "data.path=$out/digits.h5"
  cp "$out/sgd/loss.png" "$images/sgd-digits.png"
}

draw_placement() {
  build/serial/lib/topo/selvage-topo map --pattern 2d-16x16 --grid 16x16 --fabric fat-tree --json >"$out/map.json"
  "$python" scripts/plot.py topo "$out/map.json" --grid 16x16 --out "$out" >>"$out/plot.log"
  cp "$out/grid.png" "$images/placement-fat-tree.png"
}

take_help_alone "$@"
cd "$repository"
configure_and_build serial jacobi md sgd selvage-topo
rm -rf "$out"
mkdir -p "$out"
python=$(plotting_python)
step "mini-apps" draw_apps
step "placement" draw_placement
