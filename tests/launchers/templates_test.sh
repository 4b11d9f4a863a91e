#!/usr/bin/env bash
# templates_test.sh TREE BUILD TOPO PROGRAM MPIRUN: the templates for PBS, LSF and Flux on two hosts with four ranks each that there
# aren't. Their batch systems are scripts here that check what a template asks them for and start it as they would. Their mpirun
# checks the hosts that it is given and starts PROGRAM on this host.
set -euo pipefail
tree=$1 build=$2 topo=$3 program=$4 real_mpirun=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home"
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# fake NAME: a program of the batch system, from standard input
fake() {
  { printf '#!/usr/bin/env bash\nset -euo pipefail\nrefuse() { echo "%s: $*" >&2; exit 9; }\n' "$1"; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# Of PBS: asks for what the lines say, and starts a copy of the script in the home folder, with the variables of -v alone.
fake qsub <<'EOF'
[ "$1" = -v ] && [ $# -eq 3 ] || refuse "called with '$*'"
[ "$(sed -n 's/^#PBS //p' "$3")" = "-N selvage
-l select=2:ncpus=4:mpiprocs=4
-l walltime=00:10:00" ] || refuse "asked for $(grep '^#PBS' "$3")"
folder=$PWD
cp "$3" "$WORK/spooled"
IFS=, read -ra variables <<<"$2"
printf '%s\n' n1 n0 n0 n1 n0 n1 n1 n0 >"$WORK/nodefile"
cd "$WORK/home"
exec env -i "PATH=$PATH" "HOME=$WORK/home" "WORK=$WORK" "${variables[@]}" PBS_JOBID=17.server "PBS_O_WORKDIR=$folder" \
  "PBS_NODEFILE=$WORK/nodefile" bash "$WORK/spooled"
EOF

# Of LSF: reads the script, and starts it where it was submitted, with the environment of whoever did.
fake bsub <<'EOF'
[ $# -eq 0 ] || refuse "called with '$*'"
cat >"$WORK/spooled"
[ "$(sed -n 's/^#BSUB //p' "$WORK/spooled")" = '-J selvage
-n 8
-R "span[ptile=4]"
-W 10' ] || refuse "asked for $(grep '^#BSUB' "$WORK/spooled")"
exec env LSB_JOBID=18 "LS_SUBCWD=$PWD" "LSB_MCPU_HOSTS=${HOSTS:-n0 4 n1 4}" bash "$WORK/spooled"
EOF

fake flux <<'EOF'
case $* in
  "batch "*)
    [ "$(sed -n 's/^#flux: //p' "$2")" = "--job-name=selvage
--nodes=2
--nslots=8
--time-limit=10m" ] || refuse "asked for $(grep '^#flux' "$2")"
    cp "$2" "$WORK/spooled"
    exec bash "$WORK/spooled" "${@:3}"
    ;;
  "getattr jobid") echo fB5z ;;
  "getattr hostlist") echo 'n[0-1]' ;;
  "hostlist -e -")
    read -r list
    [ "$list" = 'n[0-1]' ] || refuse "asked to expand '$list'"
    echo n0 n1
    ;;
  *) refuse "called with '$*'" ;;
esac
EOF

fake scontrol <<'EOF'
[ "$*" = "show topology" ] || refuse "called with '$*'"
echo "SwitchName=leaf Level=0 LinkSpeed=1 Nodes=n[0-2]"
EOF

# Open MPI's arguments, as launch.sh has them: kept, and what is left is started here.
fake mpirun <<'EOF'
[ "$1 $3 $4 $5 $6" = "--hostfile --map-by seq -n 8" ] || refuse "called with '$*'"
cp "$2" "$WORK/hosts-of-$STEP"
shift 6
exec $REAL_MPIRUN --oversubscribe --bind-to none -n 8 "$@"
EOF

printf 'SwitchName=leaf Nodes=n[0-1]\n' >"$work/topology.conf"
export WORK=$work REAL_MPIRUN=$real_mpirun PATH=$work/bin:$PATH
settings=(SELVAGE_TREE="$tree" SELVAGE_BUILD="$build" SELVAGE_TOPO="$topo" SELVAGE_APP="$program ring"
  SELVAGE_FABRIC="slurm:$work/topology.conf")

# submit SYSTEM STEP: as the first lines of the templates say. PBS is told all variables, the others inherit them.
submit() {
  local variables=("${settings[@]}" SELVAGE_OUT="$work/$1" STEP="$2") name
  case $1 in
    pbs)
      for name in REAL_MPIRUN WORK $(compgen -e | grep -E '^(OMPI_|LD_LIBRARY_PATH$|TMPDIR$)'); do
        [[ ${!name} == *,* ]] || variables+=("$name=${!name}")
      done
      qsub -v "$(IFS=, && echo "${variables[*]}")" "$tree/scripts/pbs/job.pbs"
      ;;
    lsf) env "${variables[@]}" bsub <"$tree/scripts/lsf/job.lsf" ;;
    flux) env "${variables[@]}" flux batch "$tree/scripts/flux/job.flux" "$2" ;;
  esac
}

# expect_hosts SYSTEM STEP: four ranks on each host
expect_hosts() {
  [ "$(sort "$work/hosts-of-$2" | uniq -c | xargs)" = "4 n0 4 n1" ] || fail "$1, $2: ranks on $(xargs <"$work/hosts-of-$2")"
}

declare -A jobs=([pbs]=17.server [lsf]=18 [flux]=fB5z)
cd "$work"
for system in pbs lsf flux; do
  for step in profile map production; do
    rm -f hosts-of-*
    if ! submit "$system" "$step" >log 2>&1; then
      fail "$system, $step: $(tail -n 15 log)"
      continue
    fi
    case $step in
      profile)
        [ -e "$system/profile.h5" ] || fail "$system: there is no profile"
        [ "$(xargs <hosts-of-profile)" = "n0 n0 n0 n0 n1 n1 n1 n1" ] || fail "$system: not in the default order"
        expect_hosts "$system" profile
        ;;
      map) [ -s "$system/placed-${jobs[$system]}" ] || fail "$system: there is no placement" ;;
      production)
        expect_hosts "$system" production
        cmp -s hosts-of-production "$system/placed-${jobs[$system]}" || fail "$system: not where it was placed"
        ;;
    esac
  done
  code=0
  submit "$system" plan >log 2>&1 || code=$?
  if [ "$code" -ne 2 ] || ! grep -q "the step is profile, map or production, not 'plan'" log; then fail "$system: plan ended with $code"; fi
done

# As many ranks as the job has on each host, whoever tells the switches.
for fabric in "slurm:$work/topology.conf" scontrol; do
  settings+=(SELVAGE_FABRIC="$fabric")
  HOSTS="n1 6 n0 2" submit lsf map >log 2>&1 || fail "uneven hosts, $fabric: $(tail -n 15 log)"
  [ "$(sort lsf/placed-18 | uniq -c | xargs)" = "2 n0 6 n1" ] || fail "uneven hosts, $fabric: ranks on $(xargs <lsf/placed-18)"
done
[ "$failures" -eq 0 ] || exit 1
echo "passed"
