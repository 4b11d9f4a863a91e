# shellcheck shell=bash
# Two hosts on one machine, for programs that only meet a network between hosts: each is a network namespace with its own host
# name and its own /dev/shm, and they are joined by a pair of virtual interfaces. Open MPI starts its daemon on the second one
# through two_hosts_agent.sh, as it would through ssh. Everything is gone when the script ends.

# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/children.sh"

two_hosts_agent=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/two_hosts_agent.sh
hosts_folder=
host_pids=()

# Why there can't be two hosts here; empty where there can.
two_hosts_refusal() {
  local program
  for program in ip unshare nsenter mount; do
    command -v "$program" >/dev/null || { echo "there is no $program"; return; }
  done
  unshare --net --uts --mount true 2>/dev/null || { echo "namespaces are forbidden here"; return; }
  mpirun --version 2>/dev/null | grep -q "Open MPI\|OpenRTE" || { echo "mpirun is not Open MPI's"; return; }
}

# in_host NUMBER COMMAND...
in_host() {
  local pid=${host_pids[$1]}
  shift
  nsenter --target "$pid" --net --uts --mount "$@"
}

# A process keeps each host's namespaces; the hosts' names hold this script's number, so that scripts don't meet.
make_hosts() {
  hosts_folder=$(mktemp -d)
  trap end_hosts EXIT
  local number
  for number in 0 1; do
    unshare --net --uts --mount sleep infinity &
    host_pids[number]=$!
  done
  for number in 0 1; do
    until [[ $(readlink "/proc/${host_pids[number]}/ns/net") != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.02; done
    until [[ $(readlink "/proc/${host_pids[number]}/exe") == */sleep ]]; do sleep 0.02; done
    echo "${host_pids[number]}" >"$hosts_folder/selvage$number"
    in_host "$number" hostname "selvage$number"
    in_host "$number" mount -t tmpfs tmpfs /dev/shm
    in_host "$number" ip link set lo up
  done
  in_host 0 ip link add wire0 type veth peer name wire1
  in_host 0 ip link set wire1 netns "${host_pids[1]}"
  for number in 0 1; do
    in_host "$number" ip address add "10.99.99.$((number + 1))/24" dev "wire$number"
    in_host "$number" ip link set "wire$number" up
  done
}

end_hosts() {
  local pid
  for pid in "${host_pids[@]}"; do end_child TERM "$pid"; done
  rm -rf "$hosts_folder"
}

# on_hosts RANKS_PER_HOST COMMAND...: over TCP between the hosts, shared memory inside. Ranks yield, since both hosts have the
# same cores.
on_hosts() {
  local ranks=$1
  shift
  TWO_HOSTS_FOLDER=$hosts_folder in_host 0 mpirun --host "10.99.99.1:$ranks,10.99.99.2:$ranks" \
    --mca plm_rsh_agent "$two_hosts_agent" --mca plm rsh \
    --mca oob_tcp_if_include 10.99.99.0/24 --mca btl_tcp_if_include 10.99.99.0/24 --mca btl self,vader,tcp \
    --mca pml ob1 --mca mpi_yield_when_idle 1 --oversubscribe --bind-to none -x TWO_HOSTS_FOLDER "$@"
}

# The link between the hosts.
cut_link() { in_host 1 ip link set wire1 down; }
mend_link() { in_host 1 ip link set wire1 up; }
