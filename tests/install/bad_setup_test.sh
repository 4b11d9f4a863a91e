#!/usr/bin/env bash
# bad_setup_test.sh CMAKE: what is missing or too old ends scripts/deps.sh and CMake with one sentence that says what to do.
# shellcheck disable=SC2016 # what is single-quoted are programs
set -euo pipefail

cmake=$1
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Nothing is to be found, installed or downloaded but by what a case provides.
unset Kokkos_ROOT Kokkos_DIR CMAKE_PREFIX_PATH CXX CC
export no_proxy='' NO_PROXY=''
for variable in http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY; do
  export $variable=http://127.0.0.1:9
done
failures=0

# fake FOLDER NAME: makes a program of standard input.
fake() {
  mkdir -p "$work/$1"
  { echo '#!/usr/bin/env bash' && cat; } >"$work/$1/$2"
  chmod +x "$work/$1/$2"
}

# expect TITLE REGEX MOST_LINES COMMAND...: fails, and says REGEX in its last words.
expect() {
  local title=$1 regex=$2 most=$3 status=0 said
  shift 3
  "$@" >"$work/out" 2>"$work/err" || status=$?
  said=$(tr -s ' \n' ' ' <"$work/err")
  if [ "$status" -eq 0 ] || ! grep -qE "$regex" <<<"$said" || [ "$(grep -c . "$work/err")" -gt "$most" ]; then
    echo "FAILED: $title: exit code $status, in place of /$regex/ in at most $most lines:"
    cat "$work/err"
    failures=$((failures + 1))
  else
    echo "ok: $title"
  fi
}

# deps FOLDER ARGUMENT...: scripts/deps.sh with the programs of a folder first on the PATH.
deps() {
  local folder=$work/$1
  shift
  PATH=$folder:$PATH "$repository/scripts/deps.sh" "$@"
}

# configure NAME ARGUMENT...: the libraries alone, in a folder of its own.
configure() {
  local name=$1
  shift
  "$cmake" -S "$repository" -B "$work/build-$name" -DSELVAGE_BUILD_APPS=OFF -DSELVAGE_BUILD_TESTS=OFF \
    -DSELVAGE_BUILD_BENCH=OFF -DSELVAGE_BUILD_EXAMPLES=OFF -DSELVAGE_BUILD_TOOLS=OFF "$@"
}

export SELVAGE_DEPS_DIR=$work/deps
fake old_cmake cmake <<<'echo "cmake version 3.18.4"'
# That of deps.sh finds no Kokkos, wherever this machine has one.
fake no_kokkos cmake <<<'[ "$1" = --version ] && echo "cmake version 3.31.0"'
cp -r "$work/no_kokkos" "$work/no_packages"
fake no_packages dpkg-query <<<'exit 1'
cp -r "$work/no_packages" "$work/not_root"
fake not_root id <<<'case $1 in -u) echo 1000 ;; *) echo nobody ;; esac'
fake not_root sudo <<<'echo "sudo: a password is required" >&2; exit 1'
cp -r "$work/no_packages" "$work/no_network"
fake no_network id <<<'echo 0'
fake no_network apt-get <<<'echo "E: Unable to fetch some archives" >&2; exit 100'
fake old_compiler c++ <<'EOT'
for argument; do
  case $argument in -std=*2[0-9a-z]) echo "c++: unrecognized option '$argument'" >&2 && exit 1 ;; esac
done
exec g++ "$@"
EOT

echo >"$work/file"
SELVAGE_DEPS_DIR=$work/file/below expect "a folder that can't be written" \
  "can't write in .*/file/below: set SELVAGE_DEPS_DIR to" 1 deps no_kokkos --kokkos serial
expect "an old CMake" "CMake 3.18.4 is too old: install 3.25 or newer" 1 deps old_cmake --for none
CXX=$work/old_compiler/c++ expect "an old compiler" "doesn't know C\+\+20: set CXX to" 1 deps no_kokkos --for none
if [ -d "$repository/.deps" ]; then
  echo "skipped: no network for Kokkos, since .deps holds its sources"
else
  expect "no network for Kokkos" "Kokkos [0-9.]+ can't be downloaded.*Kokkos_ROOT" 1 deps no_kokkos --for none
fi
expect "an unknown purpose" "unknown purpose 'fun'; there are" 1 deps no_kokkos --for fun
expect "an unknown variant" "unknown Kokkos variant 'fast'; there are" 1 deps no_kokkos --kokkos fast

# From here on Kokkos is there.
mkdir -p "$(deps no_kokkos --print-prefix serial)"
expect "neither root nor sudo" "needs root: let root call 'apt-get install .*libopenmpi-dev" 1 deps not_root --for demo
expect "no network for packages" "apt-get could not install .*libopenmpi-dev.*network" 4 deps no_network --for demo

expect "a compiler without C++20" "c\+\+ doesn't know (all of )?C\+\+20: set CXX to" 8 \
  configure compiler "-DCMAKE_CXX_COMPILER=$work/old_compiler/c++"
expect "no Kokkos, and none to be fetched" "was not found and can't be fetched \(.+\): let scripts/deps.sh build one" 14 \
  configure offline -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON
expect "no Kokkos" "Kokkos 4.5 or newer was not found: let scripts/deps.sh" 14 \
  configure unfetched -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON -DSELVAGE_FETCH_KOKKOS=OFF
mkdir "$work/serial_kokkos"
echo 'set(Kokkos_DEVICES SERIAL)' >"$work/serial_kokkos/KokkosConfig.cmake"
echo 'set(PACKAGE_VERSION 4.7) 
set(PACKAGE_VERSION_COMPATIBLE ON)' >"$work/serial_kokkos/KokkosConfigVersion.cmake"
expect "a Kokkos without the backend" "runs on serial \(it has SERIAL\), and cuda was asked for: point Kokkos_ROOT at" 14 \
  configure backend "-DKokkos_DIR=$work/serial_kokkos" -DSELVAGE_BACKEND=cuda
expect "the cuda preset without a Kokkos" "There is no compiler /bin/nvcc_wrapper: export Kokkos_ROOT" 8 \
  "$cmake" -S "$repository" --preset cuda -B "$work/build-cuda"

# Enough of a Kokkos to configure with.
echo 'add_library(Kokkos::kokkos INTERFACE IMPORTED)' >>"$work/serial_kokkos/KokkosConfig.cmake"
without_json=("-DKokkos_DIR=$work/serial_kokkos" -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
expect "tools without CLI11" "CLI11 was not found: install libcli11-dev .* for the libraries alone" 14 \
  configure tools "${without_json[@]}" -DSELVAGE_BUILD_TOOLS=ON
if ! configure libraries "${without_json[@]}" >"$work/out" 2>"$work/err" ||
  ! grep -q "JSON  *nlohmann-json is missing: files of machines" "$work/out"; then
  echo "FAILED: the libraries alone need neither CLI11 nor nlohmann-json:"
  cat "$work/err"
  failures=$((failures + 1))
fi

[ "$failures" -eq 0 ] || exit 1
