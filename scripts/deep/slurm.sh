#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm.sh COMMAND...: runs a command with a Slurm of its own: one node of all processors of this computer, partition
# "main". Its daemons end with the command. Needs root, and Debian's package slurm-wlm.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "slurm.sh: needs root: Slurm's daemons start jobs for users" >&2; exit 3; }
name=$(hostname -s)
dir=$(mktemp -d)
pids=()
# Jobs end with their daemon's step; what one leaves is no child of ours.
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
mkdir "$dir/state" "$dir/spool"
chmod 755 "$dir"
export SLURM_CONF=$dir/slurm.conf
head -c 1024 /dev/urandom >"$dir/key"
chown munge: "$dir/key"
chmod 400 "$dir/key"
mkdir "$dir/munge"
chown munge: "$dir/munge"
runuser -u munge -- munged --foreground --key-file="$dir/key" --socket="$dir/munge/socket" \
    --log-file="$dir/munge/log" --pid-file="$dir/munge/pid" --seed-file="$dir/munge/seed" 2>/dev/null &
pids+=($!)
# Two free ports.
read -r control node < <(python3 - <<'PY'
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets))
PY
)
cat >"$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$name(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SlurmctldPort=$control
SlurmdPort=$node
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(free -m | awk '/^Mem:/ {print $2}') State=UNKNOWN
PartitionName=main Nodes=$name Default=YES MaxTime=INFINITE State=UP
EOF
while [ ! -S "$dir/munge/socket" ]; do kill -0 "${pids[0]}" && sleep 0.1; done
slurmctld -D -f "$SLURM_CONF" >"$dir/slurmctld.out" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$name" >"$dir/slurmd.out" 2>&1 &
pids+=($!)
for _ in $(seq 600); do
    [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ] && break
    sleep 0.2
done
[ "$(sinfo --noheader --format=%t)" = idle ] || { cat "$dir"/slurm*.log "$dir"/slurm*.out >&2; exit 1; }
"$@"
