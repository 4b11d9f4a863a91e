# Shared by the batch templates; sourced, never run. A template sets job_id, ranks, and hosts_of_job, which prints the
# host of each rank in the default order, one per line, and then calls run_step.
#
#   SELVAGE_TREE      the source tree (what the templates are submitted from)
#   SELVAGE_BUILD     the build folder ($SELVAGE_TREE/build/cuda)
#   SELVAGE_APP       the mini-app and its arguments (jacobi with inputs/jacobi/dirichlet.toml)
#   SELVAGE_OUT       where everything goes; one for the three steps (selvage-out)
#   SELVAGE_LAUNCHER  the launcher and its flags (mpirun), or srun, or mpirun.mpich
#   SELVAGE_BIND      flags of bind.sh, e.g. --one-gpu
#   SELVAGE_FABRIC    what selvage-topo map takes for --fabric (job: found by the job's ranks), e.g. slurm:topology.conf
#   SELVAGE_TOPO      selvage-topo ($SELVAGE_BUILD/lib/topo/selvage-topo)
# shellcheck shell=bash
set -euo pipefail
: "${job_id:?}" "${ranks:?}"

tree=${SELVAGE_TREE:-$PWD}
build=${SELVAGE_BUILD:-$tree/build/cuda}
out=${SELVAGE_OUT:-$PWD/selvage-out}
topo=${SELVAGE_TOPO:-$build/lib/topo/selvage-topo}
fabric=${SELVAGE_FABRIC:-job}
read -ra app <<<"${SELVAGE_APP:-$build/apps/jacobi/jacobi $tree/inputs/jacobi/dirichlet.toml}"
read -ra bind <<<"$tree/scripts/bind.sh ${SELVAGE_BIND:-}"
read -ra launcher <<<"${SELVAGE_LAUNCHER:-mpirun}"
profile=$out/profile.h5

# launch HOSTS COMMAND...: rank n runs on the host of line n. All launchers read the same file.
launch() {
  local hosts=$1
  shift
  case ${launcher[0]##*/} in
    srun) SLURM_HOSTFILE=$hosts "${launcher[@]}" --ntasks "$ranks" --distribution arbitrary "${bind[@]}" "$@" ;;
    *mpich | *hydra) "${launcher[@]}" -f "$hosts" -n "$ranks" "${bind[@]}" "$@" ;;
    *) "${launcher[@]}" --hostfile "$hosts" --map-by seq -n "$ranks" "${bind[@]}" "$@" ;;
  esac
}

# Once, in the default order, under the recorder of its traffic. What ranks of one host put straight into each other's
# memory no recorder of MPI sees, so that this time each rank takes itself for a host of its own.
profile_step() {
  local recorder=$build/lib/topo/profile/libselvage_profile.so
  case ${launcher[0]##*/} in
    *mpich | *hydra) recorder=$build/lib/topo/profile/libselvage_profile_mpich.so ;;
  esac
  local status=0
  launch "$hosts" env "LD_PRELOAD=$recorder" "SELVAGE_PROFILE_FILE=$profile" "SELVAGE_LOGICAL_HOSTS=${ranks}x1" \
    "${app[@]}" --out "$out/profile" || status=$?
  # A program that was killed leaves its ranks' parts.
  if compgen -G "$profile.rank*" >/dev/null; then
    "$build/lib/topo/profile/selvage-profile-merge" "$profile" || true
  fi
  return "$status"
}

# What the profile makes of the hosts of this job: the list "placed", and the cores of each rank where they are known.
# Without a profile, the default order.
map_step() {
  placed=$out/placed-$job_id
  if [ ! -e "$profile" ]; then
    echo "launch.sh: there is no $profile: default order" >&2
    cp "$hosts" "$placed"
    return
  fi
  local map=("$topo" map --traffic "$profile" --fabric "$fabric" --output "$placed.json")
  case $fabric in
    job) launch "$hosts" "${map[@]}" ;;
    slurm:* | scontrol)
      # In the order of the ranks, each with as many slots as it has ranks.
      "${map[@]}" --nodes "$(awk '!seen[$1]++ { print $1 }' "$hosts" | paste -sd,)" \
        --slots-per-host "$(awk '{ if (!seen[$1]++) order[++n] = $1 } END { for (i = 1; i <= n; ++i) print seen[order[i]] }' "$hosts" | paste -sd,)"
      ;;
    *) "${map[@]}" ;;
  esac
  "$topo" rankfile --placement "$placed.json" --format slurm --output "$placed"
  # Without the machine, or with more ranks than cores, there is nothing to choose, and the launcher's binding stays.
  if grep -q '"hardware_threads"' "$placed.json" && ! grep -q '"cores_unknown"' "$placed.json"; then
    "$topo" rankfile --placement "$placed.json" --format cores --output "$placed.cores"
    bind+=(--cores "$placed.cores")
  fi
}

# Another job has other hosts, so that this one maps for itself.
production_step() {
  map_step
  launch "$placed" "${app[@]}" --out "$out/production"
}

run_step() {
  mkdir -p "$out"
  hosts=$out/hosts-$job_id
  hosts_of_job >"$hosts"
  case ${1:-} in
    profile | map | production) "$1_step" ;;
    *)
      echo "the step is profile, map or production, not '${1:-}'" >&2
      exit 2
      ;;
  esac
}
