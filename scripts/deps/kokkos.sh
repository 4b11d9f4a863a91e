# Kokkos: found, or built once into the dependency folder; sourced by deps.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # the variables are those of deps.sh and lib.sh

cuda_arch=${SELVAGE_CUDA_ARCH:-HOPPER90}

kokkos_options() {
  local options=(
    -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_STANDARD=20
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DCMAKE_INSTALL_LIBDIR=lib
    -DKokkos_ENABLE_SERIAL=ON
    # Of the new Views nvcc 13 and the host's compiler see different layouts: kernels read wrong addresses from theirs.
    -DKokkos_ENABLE_IMPL_VIEW_LEGACY=ON
    # Other ranks can map no memory of cudaMallocAsync: halos of such Views go by messages.
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

# Prints the prefix of a Kokkos that CMake finds by itself and whose programs run on the variant's backend by default.
found_prefix() {
  local probe
  command -v cmake >/dev/null || return 0
  probe=$(mktemp -d)
  cmake -S "$repository/scripts/deps/find_kokkos" -B "$probe" -G "Unix Makefiles" "-DVARIANT=$1" \
    >/dev/null 2>&1 || true
  cat "$probe/prefix" 2>/dev/null || true
  rm -rf "$probe"
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
    check_compiler
    exec {lock}>"$deps_dir/lock"
    flock "$lock"
    [ -d "$prefix" ] || build_kokkos "$variant" "$prefix"
    exec {lock}>&-
  fi
  echo "Kokkos $variant: $prefix"
}

# Built aside and moved into place at the end: a build that was cut off never looks like a finished one.
build_kokkos() {
  local variant=$1 prefix=$2 work start=$SECONDS options compiler=${CXX:-g++} origin
  if [ "$variant" = cuda ]; then
    command -v nvcc >/dev/null || fail "the cuda variant needs nvcc: put the bin folder of a CUDA toolkit on the PATH"
  fi
  work=$(mktemp -d "$deps_dir/building-XXXXXX")
  # shellcheck disable=SC2064 # the folder of now, not of the moment of leaving
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work/source"
  origin=$(unpack_kokkos "$work/source")
  if [ "$variant" = cuda ]; then
    prepare_for_cuda "$work/source"
    export NVCC_WRAPPER_DEFAULT_COMPILER=$compiler
    compiler=$work/source/bin/nvcc_wrapper
  fi
  read -ra options <<<"$(kokkos_options "$variant")"
  # Few large sources: each of its small ones reads all of its headers again.
  options+=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=9)
  logged "$deps_dir/log/kokkos-configure.txt" cmake -G Ninja -S "$work/source" -B "$work/build" "${options[@]}" \
    "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_INSTALL_PREFIX=$work/prefix"
  watched "$deps_dir/log/kokkos-build.txt" "Kokkos" cmake --build "$work/build" --parallel "$jobs"
  logged "$deps_dir/log/kokkos-install.txt" cmake --install "$work/build"
  # The package files name the folders of the build.
  { grep -rlIF "$work" "$work/prefix" || true; } |
    xargs -r sed -i -e "s|$work/source|$prefix|g" -e "s|$work/prefix|$prefix|g"
  echo "built by scripts/deps.sh from $origin" >"$work/prefix/origin.txt"
  mv -T "$work/prefix" "$prefix"
  rm -rf "$work"
  trap - EXIT
  echo "built Kokkos $kokkos_version $variant from $origin in $((SECONDS - start)) s"
}

# CUDA 13 changed two signatures that Kokkos 4.7.00 calls. Kokkos' wrapper has a default that is older than CUDA 13
# knows, and CMake's compiler check names no architecture.
prepare_for_cuda() {
  local file=$1/core/src/Cuda/Kokkos_Cuda_Instance.hpp
  sed -i -E \
    -e 's|^( *)return cudaGraphAddDependencies\(graph, from, to, numDependencies\);|#if CUDART_VERSION >= 13000\n\1return cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies);\n#else\n&\n#endif|' \
    -e 's|^( *)return cudaMemPrefetchAsync\(devPtr, count, dstDevice, m_stream\);|#if CUDART_VERSION >= 13000\n\1const cudaMemLocation location{dstDevice == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, dstDevice};\n\1return cudaMemPrefetchAsync(devPtr, count, location, 0, m_stream);\n#else\n&\n#endif|' \
    "$file"
  [ "$(grep -c 'CUDART_VERSION >= 13000' "$file")" -ge 2 ] || fail "the calls to patch were not found in $file"
  sed -i -E "s/^default_arch=.*/default_arch=\"sm_${cuda_arch//[!0-9]/}\"/" "$1/bin/nvcc_wrapper"
}
