# Shared by the other scripts; sourced, never run.
# shellcheck shell=bash
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script_name=$(basename "$0")
deps_dir=${SELVAGE_DEPS_DIR:-$HOME/.cache/selvage}
ucx_version=1.22.0
ucx_prefix=$deps_dir/ucx-$ucx_version
jobs=${SELVAGE_JOBS:-$(nproc)}

# Open MPI refuses to start as root unless told twice; a container is all root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# A second clone hits the same compiler cache.
export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=1

fail() {
  echo "$script_name: $*" >&2
  exit 1
}

# step TITLE COMMAND...: runs a command under a heading, says how long it took, and stops the script if it fails.
step() {
  local title=$1 start=$SECONDS status=0
  shift
  echo "==> $title"
  # A function called in a condition would go on after its own failures, so errexit is set again in a subshell.
  set +e
  (
    set -e
    "$@"
  )
  status=$?
  set -e
  [ "$status" -eq 0 ] || fail "$title failed after $((SECONDS - start)) s (exit code $status): $*"
  echo "    $title: $((SECONDS - start)) s"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

# The Kokkos variant that a preset is built with.
variant_of_preset() {
  case $1 in
    serial | asan | tsan) echo serial ;;
    openmp | cuda) echo "$1" ;;
    *) fail "unknown preset '$1'; there are serial, openmp, cuda, asan and tsan" ;;
  esac
}

# use_dependencies VARIANT: points CMake at what deps.sh installed.
use_dependencies() {
  Kokkos_ROOT=$("$repository/scripts/deps.sh" --print-prefix "$1")
  export Kokkos_ROOT
  if [ -d "$deps_dir/debs/usr" ]; then
    export CMAKE_PREFIX_PATH="$deps_dir/debs/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
    # Libraries there that need each other find each other by this alone.
    local folder
    for folder in "$deps_dir"/debs/usr/lib/*-linux-gnu; do
      export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    done
  fi
}

# A build folder made with another Kokkos holds paths of that one: start it afresh.
configure() {
  local preset=$1 cache=$repository/build/$1/CMakeCache.txt fresh=()
  if [ -f "$cache" ] && ! grep -qE "^Kokkos_ROOT:[A-Z]+=$Kokkos_ROOT\$" "$cache"; then
    fresh=(--fresh)
  fi
  cmake --preset "$preset" "${fresh[@]}"
}

# configure_and_build PRESET [TARGET]...: all targets if none is named
configure_and_build() {
  local preset=$1 variant
  shift
  variant=$(variant_of_preset "$preset")
  step "dependencies ($variant)" "$repository/scripts/deps.sh" --kokkos "$variant"
  use_dependencies "$variant"
  cd "$repository"
  step "configure $preset" configure "$preset"
  step "build $preset" cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# with_gpu_aware_mpi COMMAND...: Open MPI through the UCX that deps.sh --ucx unpacked, which takes GPU memory.
with_gpu_aware_mpi() {
  LD_LIBRARY_PATH=$ucx_prefix/libucx/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    UCX_MODULE_DIR=$ucx_prefix/libucx/lib/ucx UCX_WARN_UNUSED_ENV_VARS=n \
    OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any "$@"
}

# A Python that can draw: the first python3 on the PATH need not be the one apt installs packages for.
plotting_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
    if "$candidate" -c 'import h5py, matplotlib' >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  fail "no python3 with matplotlib and h5py was found; set PYTHON to one, or install python3-matplotlib and python3-h5py"
}
