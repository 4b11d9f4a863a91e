# A UCX with CUDA, which Open MPI takes in place of the distribution's (see lib.sh); sourced by deps.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # the variables are those of deps.sh and lib.sh

ucx_sha256=c6e0aaa82dc6e49dc3ddaac465b530e014f48b6c1c6b5ae74fbdd199d824351b
bundled_ucx=$bundle_dir/ucx-$ucx_version.tar.gz

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
  local work=$1 python
  python=$(python_with_pip)
  "$python" -m pip --disable-pip-version-check --retries 1 download --no-deps --only-binary=:all: \
    --platform manylinux_2_28_x86_64 --dest "$work" "libucx-cu13==$ucx_version" >"$work/log" 2>&1 ||
    fail "pip could not download libucx-cu13: $(tail -n 1 "$work/log")"
  sha256sum --check --status <<<"$ucx_sha256  $(echo "$work"/*.whl)" || fail "the libucx-cu13 wheel has the wrong SHA-256"
  mkdir -p "$work/wheel" "$work/ucx"
  (cd "$work/wheel" && python3 -m zipfile -e ../*.whl .)
  (cd "$work/wheel" && cp --parents libucx/lib/libuc{m,p,s,t}.so.0 libucx/lib/ucx/libuc{m,t}_cuda.so.0 \
    libucx/lib/ucx/libuct_cma.so.0 libucx_cu13.libs/libcudart-*.so.* "$work/ucx")
}
