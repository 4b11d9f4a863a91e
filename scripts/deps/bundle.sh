# .deps/: what a host without downloads is given; sourced by deps.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # the variables are those of deps.sh and lib.sh

check_bundle() {
  (cd "$bundle_dir" && sha256sum --check --quiet --ignore-missing SHA256SUMS) ||
    fail "the files in $bundle_dir are not those that --bundle wrote"
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
  mkdir -p "$bundle_dir/debs"
  bundle_kokkos
  bundle_ucx
  bundle_debs
  (cd "$bundle_dir" && sha256sum "${bundled_kokkos##*/}" "${bundled_ucx##*/}" debs/*.deb >SHA256SUMS)
  du -sh "$bundle_dir"
}

bundle_kokkos() {
  local work
  work=$(mktemp -d)
  mkdir "$work/kokkos"
  unpack_downloaded_kokkos "$work/kokkos"
  tar -czf "$bundled_kokkos" -C "$work" kokkos
  rm -rf "$work"
}

bundle_ucx() {
  local work
  work=$(mktemp -d)
  download_ucx "$work"
  tar -czf "$bundled_ucx" -C "$work" ucx
  rm -rf "$work"
}

bundle_debs() {
  local packages=() package
  for package in libscotch-dev libpugixml-dev libtomlplusplus-dev nlohmann-json3-dev; do
    mapfile -t -O ${#packages[@]} packages < <(
      echo "$package"
      apt-cache depends --important "$package" | sed -nE 's/^ *Depends: (lib(scotch|pugixml|tomlplusplus)[^ ]*)$/\1/p'
    )
  done
  rm -f "$bundle_dir"/debs/*.deb
  (cd "$bundle_dir/debs" && apt-get -qq download "${packages[@]}") || fail "failed: apt-get download ${packages[*]}"
}
