#!/usr/bin/env bash
# docs/examples/sweep.slurm on a real Slurm: a cluster of this machine alone, with its own keys, ports and folder, and with
# whatever user runs the test. A task whose tool is killed and a task that the scheduler requeues both continue, and the
# merged parts are what one run writes, byte for byte.   slurm.sh TOOL
set -euo pipefail
PATH=$PATH:/usr/sbin # where a plain user has no daemons
tool=$1
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm-XXXXXX")
chmod 755 "$folder" # munge lets everyone reach its socket
daemons=()
stop() {
    status=$?
    trap - EXIT
    if [ "$status" -ne 0 ] && [ ${#daemons[@]} -eq 3 ]; then # the tasks end before those who could end them
        timeout 5 scancel --user="$(id -un)" || true
        for _ in {1..50}; do [ -n "$(timeout 5 squeue --noheader)" ] && sleep 0.1; done || true
    fi
    for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
    for daemon in "${daemons[@]}"; do wait "$daemon" 2>/dev/null || true; done
    if [ "$status" -ne 0 ]; then
        for log in "$folder"/*.log "$folder"/work/*.log; do
            [ ! -s "$log" ] || { echo "== $log" && tail -n 20 "$log"; } >&2
        done
    fi
    rm -rf "$folder"
    exit "$status"
}
trap stop EXIT
fail() {
    echo "slurm.sh: $*" >&2
    exit 1
}
until_true() { # SECONDS WHAT COMMAND...
    # Asking the cluster takes more of the processor than the cluster does.
    local end=$((SECONDS + $1)) what=$2 pause=0.05
    shift 2
    [[ $1 != idle && $1 != finished ]] || pause=0.5
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited in vain until $what"
        sleep "$pause"
    done
}

user=$(id -un)
host=$(uname -n)
port=$((20000 + $$ % 20000)) # and the next
mkdir "$folder"/{spool,state,work}
dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 status=none
chmod 400 "$folder/munge.key"
cat >"$folder/slurm.conf" <<CONF
ClusterName=archsim
SlurmctldHost=${host%%.*}(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
# A requeued task waits until the credential of its first run has expired.
AuthInfo=socket=$folder/munge.socket,cred_expire=5
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmdSpoolDir=$folder/spool
StateSaveLocation=$folder/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
NodeName=${host%%.*} NodeAddr=127.0.0.1 CPUs=2 RealMemory=256 State=UNKNOWN
PartitionName=sweeps Nodes=ALL Default=YES MaxTime=10 State=UP
CONF
# Nothing is confined; finding out which control groups there are would fail where there are none.
echo "CgroupPlugin=cgroup/v1" >"$folder/cgroup.conf"
export SLURM_CONF=$folder/slurm.conf

munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" \
    >"$folder/munged.out.log" 2>&1 &
daemons+=($!)
until_true 20 "munged listens" test -S "$folder/munge.socket"
slurmctld -D -i >"$folder/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -N "${host%%.*}" >"$folder/slurmd.log" 2>&1 &
daemons+=($!)
idle() { [ "$(timeout 5 sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }
until_true 40 "the node is idle" idle

cd "$folder/work"
# The tool as the tasks start it. In the first run of those that are interrupted it stops when it has rows: there it is
# found, however soon it would end and however busy the machine is.
mkdir "$folder/bin"
cat >"$folder/bin/sweep_design_space" <<STOPPING
#!/bin/bash
[ "\${SLURM_RESTART_COUNT:-0}" = 0 ] && [ "\$SLURM_ARRAY_TASK_ID" -le 1 ] || exec "$tool" "\$@"
"$tool" "\$@" &
rows=()
until [ \${#rows[@]} -gt 11 ] || ! kill -0 \$! 2>/dev/null; do
    sleep 0.01
    { mapfile -t -n 12 rows <"part\$SLURM_ARRAY_TASK_ID.csv.partial"; } 2>/dev/null
done
kill -STOP \$!
wait \$!
STOPPING
chmod 755 "$folder/bin/sweep_design_space"
PATH=$folder/bin:$PATH
export PATH
sweep=(resnet50 --hardware H100 --vary "bandwidth=0.5x..2x:log100" --vary "peak=0.5x..2x:log500")
tasks=4
array=$(sbatch --parsable --array=0-$((tasks - 1)) "$project/docs/examples/sweep.slurm" "${sweep[@]}")

# Both of the tasks that run first are interrupted when they have written rows.
has_rows() { [ "$(wc -l 2>/dev/null <"part$1.csv.partial" || echo 0)" -gt 10 ]; }
until_true 30 "task 0 has rows" has_rows 0
tool_of_task() { # the processes of a task that are the tool, as the cluster knows them
    local process job
    job=$(squeue --noheader --job "${array}_$1" --format=%A)
    scontrol listpids "$job" 2>&1 | while read -r process _; do
        [ "$(readlink -f "/proc/$process/exe" 2>/dev/null)" != "$(readlink -f "$tool")" ] || echo "$process"
    done
}
killed=$(tool_of_task 0)
[ -n "$killed" ] || fail "task 0 was done before it could be killed"
kill -KILL $killed
until_true 30 "task 1 has rows" has_rows 1
scontrol requeue "${array}_1"

finished() { [ -z "$(squeue --noheader --job "$array" 2>/dev/null)" ]; }
until_true 90 "every task is done" finished
grep -q "part 0: ended by signal 9, queued again" part0.log || fail "task 0 was not killed"
for task in 0 1; do
    restarts=$(scontrol show job "${array}_$task" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')
    [ "$restarts" = 1 ] || fail "task $task was started again $restarts times, not once"
done
scontrol show job "$array" | grep -o 'JobState=[A-Z]*' | sort | uniq -c | grep -q "^ *$tasks JobState=COMPLETED$" ||
    fail "not every task completed: $(scontrol show job "$array" | grep JobState)"

"$tool" --merge part*.csv --output points.csv
"$tool" "${sweep[@]}" --quiet --output whole.csv
cmp whole.csv points.csv
echo "$(wc -l <points.csv) lines from $tasks tasks, two of them interrupted: the same bytes as one run"
