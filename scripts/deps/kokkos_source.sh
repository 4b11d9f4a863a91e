# Where the sources of Kokkos come from; sourced by deps.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # the variables are those of deps.sh and lib.sh

# The same release and checksum as in cmake/SelvageKokkos.cmake.
kokkos_version=4.7.00
kokkos_url=https://github.com/kokkos/kokkos/releases/download/$kokkos_version/kokkos-$kokkos_version.tar.gz
kokkos_sha256=126b774a24dde8c1085c4aede7564c0b7492d6a07d85380f2b387a712cea1ff5
sdist=pygenten-0.1.5.tar.gz
sdist_sha256=e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7
bundled_kokkos=$bundle_dir/kokkos-$kokkos_version.tar.gz

# unpack_kokkos FOLDER: prints where the sources came from.
unpack_kokkos() {
  if [ -f "$bundled_kokkos" ]; then
    check_bundle
    tar -xzf "$bundled_kokkos" -C "$1" --strip-components=1
    echo "$bundled_kokkos"
  else
    unpack_downloaded_kokkos "$1"
  fi
}

# The release first. Where its host can't be reached, a source archive among the Python packages holds the same release.
unpack_downloaded_kokkos() {
  local release=$deps_dir/downloads/${kokkos_url##*/}
  mkdir -p "$deps_dir/downloads"
  if has_checksum "$kokkos_sha256" "$release" || download_release "$release"; then
    tar -xzf "$release" -C "$1" --strip-components=1
    echo "$kokkos_url"
  elif has_checksum "$sdist_sha256" "$deps_dir/downloads/$sdist" || download_sdist; then
    tar -xzf "$deps_dir/downloads/$sdist" -C "$1" --strip-components=3 "${sdist%.tar.gz}/tpls/kokkos"
    echo "the Python package pygenten 0.1.5"
  else
    fail "Kokkos $kokkos_version can't be downloaded, which $deps_dir/log tells more about: look whether there is a network," \
      "or point Kokkos_ROOT at a Kokkos"
  fi
}

has_checksum() { [ -f "$2" ] && sha256sum --check --status <<<"$1  $2"; }

# By Python, which every host has that can go on without: it is told to give up after seconds.
download_release() {
  local release=$1 log=$deps_dir/log/kokkos-release.txt
  if ! timeout 120 python3 - "$kokkos_url" "$release.part" >"$log" 2>&1 <<'PYTHON'
import shutil
import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1], timeout=4) as response, open(sys.argv[2], "wb") as file:
    shutil.copyfileobj(response, file)
PYTHON
  then
    return 1
  fi
  has_checksum "$kokkos_sha256" "$release.part" || fail "$kokkos_url has the wrong SHA-256: remove $release.part"
  mv "$release.part" "$release"
}

download_sdist() {
  local work log=$deps_dir/log/kokkos-sdist.txt attempt
  work=$(mktemp -d "$deps_dir/downloads/fetching-XXXXXX")
  stub_build_backend "$work/stub"
  for attempt in 1 2 3; do
    if pip_download "$work" >"$log" 2>&1; then break; fi
    # A second attempt helps against a busy network, not against none.
    if [ "$attempt" -eq 3 ] || grep -q NewConnectionError "$log"; then
      rm -rf "$work"
      return 1
    fi
    sleep $((attempt * 5))
  done
  has_checksum "$sdist_sha256" "$work/$sdist" || fail "$work/$sdist has the wrong SHA-256: $(sha256sum <"$work/$sdist")"
  mv "$work/$sdist" "$deps_dir/downloads/$sdist"
  rm -rf "$work"
}

pip_download() {
  local python
  python=$(python_with_pip)
  PYTHONPATH=$1/stub "$python" -m pip --disable-pip-version-check --retries 1 download --no-deps --no-binary :all: \
    --no-build-isolation --dest "$1" pygenten==0.1.5
}

# pip saves no source archive before it has asked the archive's build backend for metadata, and installing the real
# backend takes Debian's pip minutes. Only the archive is wanted, so this one answers instead.
stub_build_backend() {
  mkdir -p "$1/scikit_build_core"
  touch "$1/scikit_build_core/__init__.py"
  cat >"$1/scikit_build_core/build.py" <<'PYTHON'
import pathlib


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, "pygenten-0.1.5.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: pygenten\nVersion: 0.1.5\n")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    raise NotImplementedError("only the source archive is wanted")
PYTHON
}
