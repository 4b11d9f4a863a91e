#!/usr/bin/env bash
# slurm_test.sh TREE BUILD TOPO JACOBI MPICH: a Slurm of four pretended nodes on this machine, in a temporary folder; ranks
# must go where hostfiles say, the batch template must run jacobi, and selvage-topo must see the two levels of switches that
# Slurm was told of. TOPO is selvage-topo; JACOBI is the program, and MPICH one that was built with MPICH, or "none" where
# they weren't built. Exit code 77 where no Slurm is installed, or only root could start it. What is left out otherwise is
# named on a line "skipped: ...".
set -euo pipefail
tree=$1 build=$2 true_mapper=$3 jacobi=${4#none} mpich_program=${5#none}
nodes=4

leave_out() { echo "skipped: $*"; }

skip() {
  leave_out "$@"
  exit 77
}

fail() {
  echo "slurm_test.sh: $*" >&2
  tail -n 15 "$work"/*.log >&2 || true
  exit 1
}

export PATH=$PATH:/usr/sbin:/sbin
command -v slurmctld >/dev/null || skip "no Slurm is installed (scripts/deps.sh --slurm)"
[ "$(id -u)" -eq 0 ] || skip "only root can start Slurm's daemons"
# From here on whatever is missing is an error.
for program in munged slurmd sbatch squeue scancel srun scontrol sinfo runuser python3 "$true_mapper" ${jacobi:+"$jacobi"} \
  ${mpich_program:+"$mpich_program"}; do
  command -v "$program" >/dev/null || {
    echo "slurm_test.sh: there is no $program" >&2
    exit 1
  }
done

work=$(mktemp -d /tmp/selvage-slurm-XXXXXX)
chmod 755 "$work"
daemons=()

# By their ids and no others': the machine may have a Slurm of its own.
stop() {
  local pid tries
  if [ ${#daemons[@]} -gt 1 ]; then
    timeout 5 scancel --quiet --user root 2>/dev/null || true
    for ((tries = 0; tries < 25; ++tries)); do
      [ -n "$(timeout 5 squeue --noheader 2>/dev/null)" ] || break
      sleep 0.2
    done
  fi
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT

# background LOG COMMAND...
background() {
  local log=$1
  shift
  "$@" >"$work/$log.log" 2>&1 &
  daemons+=($!)
}

start_munge() {
  mkdir "$work/munge"
  dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 2>/dev/null
  chmod 600 "$work/munge/key"
  chown -R munge: "$work/munge"
  background munged runuser -u munge -- munged --foreground --key-file="$work/munge/key" \
    --socket="$work/munge/socket" --pid-file="$work/munge/pid" --log-file="$work/munge/log" \
    --seed-file="$work/munge/seed"
  wait_for "munged" test -S "$work/munge/socket"
}

# wait_for WHAT COMMAND...: until the command succeeds, half a minute at the longest
wait_for() {
  local what=$1 tries
  shift
  for ((tries = 0; tries < 150; ++tries)); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  fail "$what didn't come"
}

# Ports that nobody listens on just now.
free_ports() {
  local base
  for ((base = 20000 + RANDOM % 20000; ; base += 10)); do
    if ! grep -qE ":$(printf '(%04X|%04X|%04X|%04X|%04X)' $((base)) $((base + 1)) $((base + 2)) $((base + 3)) \
      $((base + 4))) " /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
      echo "$base"
      return
    fi
  done
}

write_configuration() {
  local base
  base=$(free_ports)
  mkdir "$work/state" "$work/spool"
  export SLURM_CONF=$work/slurm.conf
  cat >"$SLURM_CONF" <<EOF
ClusterName=selvage
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0
MpiDefault=none
ReturnToService=2
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SlurmdSpoolDir=$work/spool/%n
SlurmdPidFile=$work/slurmd-%n.pid
TopologyPlugin=topology/tree
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=n[0-3] NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=[$((base + 1))-$((base + 4))] CPUs=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
  # Switches join the nodes in another order than that of their names.
  cat >"$work/topology.conf" <<'EOF'
SwitchName=s0 Nodes=n0,n3
SwitchName=s1 Nodes=n1,n2
SwitchName=top Switches=s0,s1
EOF
}

all_idle() { [ "$(sinfo --noheader --format=%t%D)" = "idle$nodes" ]; }

start_slurm() {
  local i
  write_configuration
  background slurmctld slurmctld -D -f "$SLURM_CONF"
  for ((i = 0; i < nodes; ++i)); do
    mkdir "$work/spool/n$i"
    background "slurmd-n$i" slurmd -D -N "n$i" -f "$SLURM_CONF"
  done
  wait_for "Slurm's nodes" all_idle
}

# wait_for_end JOB: what it ended as in $state. Slurm ends it after its five minutes at the latest. sbatch --wait looks after 2,
# 10 and 42 seconds only.
wait_for_end() {
  while true; do
    state=$(scontrol --oneliner show job "$1" | sed -nE 's/.* JobState=([A-Z_]+) .*/\1/p')
    case $state in
      PENDING | CONFIGURING | RUNNING | COMPLETING) sleep 0.1 ;;
      *) return ;;
    esac
  done
}

# submit NAME COMMAND...: as a batch job on all nodes; prints what it printed
submit() {
  local name=$1
  shift
  sbatch --parsable --time=5 --output="$work/$name.out" --nodes="$nodes" --ntasks-per-node=2 --job-name="$name" \
    --chdir="$work" "$@" >"$work/$name.log" 2>&1 || fail "$name was refused: $(cat "$work/$name.log")"
  wait_for_end "$(cat "$work/$name.log")"
  [ "$state" = COMPLETED ] || fail "$name ended as '$state': $(cat "$work/$name.out")"
  cat "$work/$name.out"
}

# placed: of bind.sh's lines, "rank node" in the order of ranks
placed() { sed -nE 's/^bind.sh: rank ([0-9]+), node ([^,]+),.*/\1 \2/p' | sort -n; }

expect_placed() {
  local what=$1 found=$2
  local wanted
  wanted=$(awk '{ print NR - 1, $1 }' "$work/hosts")
  [ "$found" = "$wanted" ] || fail "$what put the ranks elsewhere: $(tr '\n' ';' <<<"$found") not $(tr '\n' ';' <<<"$wanted")"
  echo "passed: $what"
}

# An order that no default has.
arbitrary_hosts() { printf '%s\n' n3 n0 n2 n2 n1 n3 n1 n0; }

batch() {
  local file=$work/$1.sh
  printf '#!/usr/bin/env bash\nset -e\n' >"$file"
  cat >>"$file"
  echo "$file"
}

test_arbitrary_hostfiles() {
  arbitrary_hosts >"$work/hosts"
  local script
  script=$(batch by_srun <<<"SLURM_HOSTFILE=$work/hosts srun -n 8 -m arbitrary $tree/scripts/bind.sh true")
  expect_placed "srun -m arbitrary" "$(submit by_srun "$script" | placed)"
  script=$(batch by_mpirun <<<"mpirun --hostfile $work/hosts --map-by seq -n 8 $tree/scripts/bind.sh true")
  expect_placed "mpirun --map-by seq" "$(submit by_mpirun "$script" | placed)"
  awk '{ printf "rank %d=%s slot=%d\n", NR - 1, $1, 0 }' "$work/hosts" >"$work/rankfile"
  script=$(batch by_rankfile <<<"mpirun --rankfile $work/rankfile -n 8 --oversubscribe $tree/scripts/bind.sh true")
  expect_placed "mpirun --rankfile" "$(submit by_rankfile "$script" | placed)"
}

# Stands in for selvage-topo, with a placement that no default is: the hosts backwards.
write_mapper() {
  cat >"$work/mapper" <<'EOF'
#!/usr/bin/env bash
# map --traffic PROFILE --fabric slurm:FILE --output JSON --nodes LIST --slots-per-host N,...
# rankfile --placement JSON --format slurm --output FILE
case "$1 $2 $4 $6" in
  "map --traffic --fabric --output")
    [ -e "$3" ] && [ "${9}" = n0,n1,n2,n3 ] && [ "${11}" = 2,2,2,2 ] && echo backwards >"$7"
    ;;
  "rankfile --placement --format --output")
    [ "$(cat "$3")" = backwards ] && printf '%s\n' n3 n3 n2 n2 n1 n1 n0 n0 >"$7"
    ;;
  *) exit 2 ;;
esac
EOF
  chmod +x "$work/mapper"
}

test_batch_template() {
  write_mapper
  export SELVAGE_TOPO=$work/mapper SELVAGE_FABRIC=slurm:$work/topology.conf
  export SELVAGE_TREE=$tree SELVAGE_BUILD=$build SELVAGE_OUT=$work/out
  # Pretended nodes share the processors, and a folder for shared memory in which their segments' names would be the
  # same.
  export SELVAGE_LAUNCHER="mpirun --oversubscribe --bind-to none" OMP_NUM_THREADS=1
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
  export SELVAGE_APP="$jacobi $tree/inputs/jacobi/dirichlet.toml --set grid.cells=[63,63]"
  SELVAGE_APP+=" --set run.steps=100 --set output.fields=false --verify"
  local step
  for step in profile map production; do
    submit "template_$step" "$tree/scripts/slurm/job.sbatch" "$step" >/dev/null
    echo "passed: job.sbatch $step"
  done
  [ -e "$SELVAGE_OUT/profile.h5" ] || fail "no profile was written"
  [ -e "$SELVAGE_OUT/production/run.json" ] || fail "the production run left nothing"
  printf '%s\n' n3 n3 n2 n2 n1 n1 n0 n0 >"$work/hosts"
  expect_placed "job.sbatch production" "$(placed <"$work/template_production.out")"
}

# Seven tasks on four nodes, in the default order.
test_uneven_tasks() {
  local out=$SELVAGE_OUT
  export SELVAGE_OUT=$work/uneven_out
  submit uneven --ntasks=7 "$tree/scripts/slurm/job.sbatch" production >/dev/null
  export SELVAGE_OUT=$out
  printf '%s\n' n0 n0 n1 n1 n2 n2 n3 >"$work/hosts"
  expect_placed "job.sbatch production with seven tasks" "$(placed <"$work/uneven.out")"
}

# With the true mapper, on Slurm's switches.
test_true_mapper() {
  export SELVAGE_TOPO=$true_mapper
  submit mapped "$tree/scripts/slurm/job.sbatch" production >/dev/null
  local list
  list=$(find "$SELVAGE_OUT" -name 'placed-*' ! -name '*.json' ! -name '*.cores' -newer "$work/template_production.out")
  [ "$(sort "$list")" = "$(printf '%s\n' n0 n0 n1 n1 n2 n2 n3 n3)" ] || fail "the mapper's list: $(cat "$list")"
  cp "$list" "$work/hosts"
  expect_placed "job.sbatch production, mapped" "$(placed <"$work/mapped.out")"
}

# Pretended nodes have one name, by which selvage-topo would see that Slurm means another node: as_node gives a rank its
# node's.
may_rename_host() { unshare --uts true 2>/dev/null; }

write_as_node() {
  cat >"$work/as_node" <<'EOF'
#!/usr/bin/env bash
exec unshare --uts bash -c 'hostname "$SLURMD_NODENAME" && exec "$@"' as_node "$@"
EOF
  chmod +x "$work/as_node"
}

# in_json FILE EXPRESSION: of `all`, what the file holds
in_json() { python3 -c 'import json, sys; all = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

# What Slurm says of switches to each rank (show, map --fabric job) and by scontrol (map --fabric scontrol).
test_switches() {
  local script found
  printf '%s\n' n0 n1 n2 n3 >"$work/hosts"
  # In their order each two that exchange the most have the top switch between them.
  cat >"$work/pairs.csv" <<'EOF'
from,to,host_bytes,host_messages,device_bytes,device_messages
0,1,1000,1,0,0
2,3,1000,1,0,0
EOF
  script=$(batch by_scontrol <<EOF
cd $work
mpirun -n 1 $true_mapper map --traffic pairs.csv --fabric scontrol --slots-per-host 1 --links --json >by_scontrol.json
EOF
  )
  submit by_scontrol "$script" >/dev/null
  expect_one_switch_per_pair scontrol "$work/by_scontrol.json"
  if ! may_rename_host; then
    leave_out "the switches in ranks' environments, since unshare --uts is not allowed here"
    return
  fi
  write_as_node
  script=$(batch by_address <<EOF
cd $work
as_nodes="mpirun --hostfile hosts --map-by seq -n 4 --oversubscribe --bind-to none $work/as_node $true_mapper"
\$as_nodes show --json >show.json
\$as_nodes map --traffic pairs.csv --fabric job --links --json >by_address.json
EOF
  )
  submit by_address "$script" >/dev/null
  found=$(in_json "$work/show.json" \
    '"; ".join(host["name"] + " " + "/".join(host["switches"]["value"] or [host["switches"]["unknown"]]) for host in all["physical_hosts"])')
  [ "$found" = "n0 top/s0; n1 top/s1; n2 top/s1; n3 top/s0" ] || fail "show tells of $found"
  echo "passed: show names the switches above each node"
  expect_one_switch_per_pair job "$work/by_address.json"
}

# expect_one_switch_per_pair FABRIC FILE: ranks 0 and 1, and 2 and 3, at a switch, and nothing left for the links to the top.
expect_one_switch_per_pair() {
  local found
  found=$(in_json "$2" '" ".join(all["hosts"][rank["host"]]["name"] for rank in all["ranks"])')
  case $found in
    "n0 n3 "* | "n3 n0 "* | "n1 n2 "* | "n2 n1 "*) ;;
    *) fail "map --fabric $1 put ranks on $found" ;;
  esac
  found=$(in_json "$2" '[(link["default_load"], link["load"]) for link in all["links"] if link["link"].startswith("s0 ")]')
  [ "$found" = "[(1000.0, 0.0), (1000.0, 0.0)]" ] || fail "map --fabric $1, links of s0 to the top, before and after: $found"
  echo "passed: map --fabric $1 sees both levels of switches"
}

# Where the job's ranks find the machine themselves, they get cores too: bind.sh must put each on those of its line.
test_cores() {
  if ! may_rename_host; then
    leave_out "cores in a job, since unshare --uts is not allowed here"
    return
  fi
  printf '#!/usr/bin/env bash\nexec %s %s "$@"\n' "$work/as_node" "$true_mapper" >"$work/mapper_as_node"
  chmod +x "$work/mapper_as_node"
  export SELVAGE_TOPO=$work/mapper_as_node SELVAGE_FABRIC=job
  rm -f "$SELVAGE_OUT"/placed-*
  submit bound "$tree/scripts/slurm/job.sbatch" production >/dev/null
  local list found
  list=$(find "$SELVAGE_OUT" -name 'placed-*.cores')
  [ -e "$list" ] || fail "no cores were chosen: $(cat "$SELVAGE_OUT"/placed-*.json)"
  cp "${list%.cores}" "$work/hosts"
  expect_placed "job.sbatch production on the job's own fabric" "$(tail -n 8 <<<"$(grep '^bind.sh: rank ' "$work/bound.out")" | placed)"
  found=$(grep '^bind.sh: rank ' "$work/bound.out" | tail -n 8 | sed -nE 's/^bind.sh: rank ([0-9]+), .* cores (.*)$/\1 \2/p' | sort -n)
  [ "$found" = "$(awk '{ print NR - 1, $1 }' "$list")" ] || fail "ranks are on other cores than those of $list: $found"
  echo "passed: job.sbatch production binds ranks to the cores that were chosen"
}

# What docs/start/slurm.md does after placing, in one allocation: links are measured, sums tuned, and a program says what it chose.
test_measuring() {
  if ! may_rename_host; then
    leave_out "measured links and tuned sums, since unshare --uts is not allowed here"
    return
  fi
  local script found start="mpirun --oversubscribe --bind-to none"
  script=$(batch measuring <<EOF
unset SELVAGE_PROBES SELVAGE_ALLREDUCE_TABLE
export XDG_CONFIG_HOME=$work/config
cd $work
$start --map-by ppr:1:node $work/as_node $true_mapper probe --save
$start --map-by ppr:2:node $tree/scripts/bind.sh $work/as_node $build/lib/comm/selvage-tune --types fp64 --min 64 --max 64
$start --map-by ppr:2:node $tree/scripts/bind.sh $work/as_node $jacobi --check
EOF
  )
  submit measuring "$script" >"$work/measured"
  found=$(in_json "$work/config/selvage/probes.json" \
    '" ".join(sorted(all["hosts"])), len(all["pairs"]), min(min(pair["gb_per_s"]) for pair in all["pairs"]) > 0')
  [ "$found" = "('n0 n1 n2 n3', 12, True)" ] || fail "probe --save measured $found"
  echo "passed: probe --save measures the links of the job's nodes"
  [ "$(grep -c '"ranks": 8' "$work/config/selvage/allreduce.json")" -gt 0 ] ||
    fail "selvage-tune wrote $(cat "$work/config/selvage/allreduce.json")"
  echo "passed: selvage-tune tunes sums of the job's ranks"
  grep -q 'mpi_' "$work/measured" || fail "jacobi --check says $(cat "$work/measured")"
  echo "passed: jacobi --check says what halos choose"
}

# A program that isn't ours, from its profile to its place by selvage-topo alone. In their order the two ranks are on nodes
# that only the top switch joins.
test_netpipe() {
  if ! command -v NPopenmpi >/dev/null; then
    leave_out "a program that isn't ours, since there is no NPopenmpi"
    return
  fi
  local recorder=$build/lib/topo/profile/libselvage_profile.so script format
  local ping="NPopenmpi -l 1 -u 1000 -n 3 -p 1 -o $work/netpipe"
  printf '%s\n' n0 n1 >"$work/hosts"
  script=$(batch by_netpipe <<EOF
cd $work
mpirun --hostfile $work/hosts --map-by seq -n 2 $tree/scripts/bind.sh \
  env LD_PRELOAD=$recorder SELVAGE_PROFILE_FILE=$work/netpipe.h5 $ping
$true_mapper map --traffic $work/netpipe.h5 --fabric slurm:$work/topology.conf --nodes n[0-3] --slots-per-host 1 \
  --output $work/netpipe.json
$true_mapper rankfile --placement $work/netpipe.json --format slurm --output $work/netpipe.hosts
$true_mapper rankfile --placement $work/netpipe.json --format openmpi --output $work/netpipe.ranks
EOF
  )
  expect_placed "NetPIPE, profiled" "$(submit by_netpipe "$script" | placed)"
  cp "$work/netpipe.hosts" "$work/hosts"
  case $(sort "$work/hosts" | paste -sd' ') in
    "n0 n3" | "n1 n2") ;;
    *) fail "NetPIPE was placed apart: $(paste -sd' ' "$work/hosts")" ;;
  esac
  for format in "--hostfile $work/netpipe.hosts --map-by seq" "--oversubscribe --rankfile $work/netpipe.ranks"; do
    script=$(batch mapped_netpipe <<<"cd $work; mpirun $format -n 2 $tree/scripts/bind.sh $ping")
    expect_placed "NetPIPE, mapped by ${format%% /*}" "$(submit mapped_netpipe "$script" | placed)"
  done
}

# MPICH's programs can be started by srun itself.
test_mpich() {
  local script
  if [ -z "$mpich_program" ]; then
    leave_out "srun --mpi=pmi2, since no program was built with MPICH"
    return
  fi
  script=$(batch by_mpich <<<"SLURM_HOSTFILE=$work/hosts srun --mpi=pmi2 -n 8 -m arbitrary \
    $tree/scripts/bind.sh $mpich_program ring")
  expect_placed "srun --mpi=pmi2 with MPICH" "$(submit by_mpich "$script" | placed)"
}

# Pretended nodes share the processors: ranks that wait must let others work.
export OMPI_MCA_mpi_yield_when_idle=1
start_munge
start_slurm
test_arbitrary_hostfiles
test_mpich
test_switches
test_netpipe
if [ -n "$jacobi" ]; then
  test_batch_template
  test_uneven_tasks
  test_true_mapper
  test_cores
  test_measuring
else
  leave_out "job.sbatch, since jacobi was not built"
fi
