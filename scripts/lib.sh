# Shared by the other scripts; sourced, never run.
# shellcheck shell=bash
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script_name=$(basename "$0")
deps_dir=${SELVAGE_DEPS_DIR:-$HOME/.cache/selvage}
ucx_version=1.22.0
ucx_prefix=$deps_dir/ucx-$ucx_version
pictures_python=$deps_dir/pictures
# Without what OMP_NUM_THREADS and OMP_THREAD_LIMIT make of it.
jobs=${SELVAGE_JOBS:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)}

# Open MPI refuses to start as root unless told twice; a container is all root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# A second clone hits the same compiler cache.
export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=1
# What ccache asks for where headers are precompiled.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

fail() {
  echo "$script_name: $*" >&2
  exit 1
}

# take_help_alone ARGUMENT...: of a script whose only argument is --help, and which has a function usage.
take_help_alone() {
  case ${1:-} in
    "") ;;
    --help | -h)
      usage
      exit
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
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

# logged FILE COMMAND...: silent unless the command fails.
logged() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 10 "$log" >&2
    fail "failed, as $log tells: $*"
  fi
}

# watched FILE TITLE COMMAND...: the same, but a person at a terminal sees ninja's line of progress.
watched() {
  local log=$1 title=$2
  shift 2
  if [ -t 1 ]; then
    NINJA_STATUS="[$title %f/%t] " "$@"
  else
    logged "$log" "$@"
  fi
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

can_be_root() { as_root true 2>/dev/null; }

make_deps_dir() {
  { mkdir -p "$deps_dir/log" && [ -w "$deps_dir" ]; } 2>/dev/null ||
    fail "can't write in $deps_dir: set SELVAGE_DEPS_DIR to a folder that can be written"
}

# The version that CMakeLists.txt and CMakePresets.json ask for.
check_cmake() {
  local needed=3.25 found
  found=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p')
  [ -n "$found" ] || fail "there is no cmake: install CMake $needed or newer ('python3 -m pip install cmake' has one)"
  [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -n 1)" = "$needed" ] ||
    fail "CMake $found is too old: install $needed or newer ('python3 -m pip install cmake' has one)"
}

check_compiler() {
  local compiler=${CXX:-g++}
  command -v "$compiler" >/dev/null || fail "there is no compiler $compiler: set CXX to one that knows C++20 (g++ 11 or newer)"
  echo '#include <source_location>
#include <concepts>
static_assert(std::integral<int>);' | "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ||
    fail "$compiler doesn't know C++20: set CXX to a compiler that does (g++ 11 or newer)"
}

# What deps.sh installs packages for: demo.sh asks for less.
purpose="test"

# The Kokkos variant that a preset is built with.
variant_of_preset() {
  case $1 in
    serial | mpich | asan | tsan) echo serial ;;
    openmp | cuda) echo "$1" ;;
    openmp-quick) echo openmp ;;
    cuda-compiles) echo cuda ;;
    *) fail "unknown preset '$1'; there are serial, openmp, cuda, mpich, asan and tsan" ;;
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
  # A first build for the demo asks for nothing that only tests need; whoever tests asks for it again.
  local parts=()
  if [ "$purpose" = test ]; then
    parts=(-DSELVAGE_BUILD_TESTS=ON -DSELVAGE_BUILD_BENCH=ON -DSELVAGE_BUILD_EXAMPLES=ON)
  elif [ ! -f "$cache" ]; then
    parts=(-DSELVAGE_BUILD_TESTS=OFF -DSELVAGE_BUILD_BENCH=OFF -DSELVAGE_BUILD_EXAMPLES=OFF)
  fi
  cmake --preset "$preset" "${fresh[@]}" "${parts[@]}"
}

# configure_and_build PRESET [TARGET]...: all targets if none is named
configure_and_build() {
  local preset=$1 variant
  shift
  variant=$(variant_of_preset "$preset")
  step "dependencies ($variant)" "$repository/scripts/deps.sh" --for "$purpose" --kokkos "$variant"
  [ "$preset" != mpich ] || step "dependencies (MPICH)" "$repository/scripts/deps.sh" --mpich
  use_dependencies "$variant"
  cd "$repository"
  step "configure $preset" configure "$preset"
  step "build $preset" cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# use_built PRESET [TARGET]...: in place of configure_and_build
use_built() {
  cd "$repository"
  [ -d "build/$1" ] || fail "--as-built: there is no build/$1"
  use_dependencies "$1"
}

# What programs that use GPUs here want, ours and others.
prepare_gpus() {
  # NVLink multicast stays off: a program that dies with it can take the switch down.
  export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
  # Halos by proxy are refused otherwise.
  export CUDA_MODULE_LOADING=EAGER
}

# up_to GPUS RANKS...: those that have a GPU each
up_to() {
  local gpus=$1 ranks
  shift
  for ranks in "$@"; do
    [ "$ranks" -gt "$gpus" ] || echo "$ranks"
  done
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
  for candidate in "${PYTHON:-python3}" /usr/bin/python3 "$pictures_python/bin/python"; do
    if "$candidate" -c 'import h5py, matplotlib' >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  fail "no python3 has matplotlib and h5py: set PYTHON to one that has, or let scripts/deps.sh install them"
}
