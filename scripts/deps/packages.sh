# The distribution's packages, by what they are for; sourced by deps.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # the variables are those of deps.sh and lib.sh

# Each line: the package to install, then others that serve as well.
demo_packages=(
  "libopenmpi-dev libmpich-dev"
  "openmpi-bin mpich"
  "libhdf5-openmpi-dev libhdf5-mpich-dev libhdf5-dev"
  "libhwloc-dev"
  "libcli11-dev"
  "nlohmann-json3-dev"
  "libfmt-dev"
  "libtomlplusplus-dev"
  "pkg-config pkgconf"
)
# Selvage builds without these, with less in it.
demo_optional_packages=("libscotch-dev")
test_packages=("${demo_packages[@]}" "libgtest-dev")
test_optional_packages=(
  "${demo_optional_packages[@]}"
  "libpugixml-dev"
  "libbenchmark-dev"
  "libopenblas-dev libopenblas-pthread-dev libopenblas-serial-dev libblas-dev"
  "zlib1g-dev"
  # The profiler's own HDF5, and programs for its tests.
  "libhdf5-dev"
  "gfortran"
  # Two hosts on one machine.
  "iproute2"
  "netpipe-openmpi"
)

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

# Programs count wherever they come from.
missing_programs() {
  command -v g++ >/dev/null || echo g++
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
}

# install_packages demo|test: what building and running needs.
install_packages() {
  local required optional
  unpack_bundled_debs
  case $1 in
    demo)
      mapfile -t required < <(missing_of "${demo_packages[@]}"; missing_programs)
      mapfile -t optional < <(missing_of "${demo_optional_packages[@]}")
      ;;
    test)
      mapfile -t required < <(missing_of "${test_packages[@]}"; missing_programs)
      mapfile -t optional < <(missing_of "${test_optional_packages[@]}"; command -v ccache >/dev/null || echo ccache)
      ;;
  esac
  # All at once, since apt reads its lists each time it is called.
  if [ ${#optional[@]} -gt 0 ] && (apt_install "${required[@]}" "${optional[@]}") 2>/dev/null; then return; fi
  [ ${#required[@]} -eq 0 ] || apt_install "${required[@]}"
  if [ ${#optional[@]} -gt 0 ]; then
    echo "$script_name: warning: going on without ${optional[*]}, which could not be installed" >&2
  fi
}

# install_extra PACKAGE...: packages of one purpose.
install_extra() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"
}

# apt_install PACKAGE...: one line when it is done, one sentence when it can't be.
apt_install() {
  local log=$deps_dir/log/apt.txt start=$SECONDS
  command -v apt-get >/dev/null ||
    fail "there is no apt-get here: install what $* hold by other means, then call this with --for none"
  can_be_root ||
    fail "installing packages needs root: let root call 'apt-get install $*', or call this with --for none"
  echo "apt-get install $*" >"$log"
  if ! call_apt_get "$@" >>"$log" 2>&1; then
    grep '^E:' "$log" | tail -n 3 >&2 || true
    fail "apt-get could not install $*: see $log, and look whether there is a network"
  fi
  echo "installed $* in $((SECONDS - start)) s"
}

call_apt_get() {
  local get=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=1 -qq -y)
  local install=("${get[@]}" --no-install-recommends install "$@")
  # Lists that are there may be too old, which the first attempt tells.
  if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && as_root "${install[@]}"; then return; fi
  as_root "${get[@]}" update && as_root "${install[@]}"
}

# The batch system that the test of the batch templates starts.
install_slurm() { install_extra slurmctld slurmd slurm-client munge; }

# The distribution's alternatives prefer Open MPI for mpicc and mpirun; nothing else may change them either.
install_mpich() {
  local before after
  before=$(readlink -f "$(command -v mpicc)" "$(command -v mpirun)" || true)
  install_extra mpich libmpich-dev
  after=$(readlink -f "$(command -v mpicc)" "$(command -v mpirun)" || true)
  [ -z "$before" ] || [ "$before" = "$after" ] || fail "mpicc and mpirun are now MPICH's: see update-alternatives --config mpi"
}
