#!/usr/bin/env bash
# A checkpoint that can't be written ends all ranks with one message that names it, and the earlier ones stay.
# The limit on file sizes stands for a full disk: it needs no privileges, and the failing call is the same.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# 31 MiB of parameters and momentum, in tensors of 8 MiB.
out=$scratch/out
large=("${training[@]}" --set "model.hidden=[1000,1000,1000,1000,1000]" --set comm.bucket_bytes=8388608
  --set train.rate=0.001 --set restart.every=1 --out "$out")
expect_success 2 "${large[@]}" --steps 2
before=$(checksums "$out" | grep checkpoint)

# Below the checkpoint, above all that MPI and shared buckets need.
ulimit -f 24576
expect_failure 1 "checkpoint_00000002.h5" 2 "${large[@]}" --steps 3 --restart "$out/checkpoint_00000001.h5"
if [[ $(checksums "$out" | grep checkpoint) != "$before" ]]; then fail "the earlier checkpoints changed"; fi
if compgen -G "$out/*.partial" >/dev/null; then fail "a partial file was left behind"; fi
finish
