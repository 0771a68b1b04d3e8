#!/usr/bin/env bash
# Scans a dataset several times larger than the memory it is given, inside a
# memory cgroup of that size where one may be made.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${1:-64MiB}
bytes=$((${limit%MiB} << 20))
weir=$PWD/bin/weir

if [ ! -e demo-data/ready ]; then
  echo "making a sample dataset in demo-data/ (once) ..."
  go run ./examples/sample -o demo-data
  touch demo-data/ready
fi

# group makes a memory cgroup of the limit, prints its path, or fails.
group() {
  local g
  if [ -w /sys/fs/cgroup/memory ]; then
    g=/sys/fs/cgroup/memory/weir-demo-$$
    mkdir "$g" && echo "$bytes" >"$g/memory.limit_in_bytes"
  elif [ -w /sys/fs/cgroup/cgroup.subtree_control ]; then
    g=/sys/fs/cgroup/weir-demo-$$
    mkdir "$g" && echo "$bytes" >"$g/memory.max" && { echo 0 >"$g/memory.swap.max" || true; }
  else
    return 1
  fi 2>/dev/null
  echo "$g"
}

# limited runs a command inside the group.
limited() {
  if [ -n "$g" ]; then
    (echo "$BASHPID" >"$g/cgroup.procs" && exec "$@")
  else
    "$@"
  fi
}

if g=$(group); then
  trap 'rmdir "$g"' EXIT
  echo "running inside a memory cgroup of $limit"
else
  g=
  echo "no memory cgroup may be made here: the report's peak is what shows the limit was kept"
fi
for data in features chat; do
  echo
  echo "\$ weir inspect demo-data/$data"
  "$weir" inspect "demo-data/$data"
  echo
  echo "\$ weir scan demo-data/$data --memory $limit"
  limited "$weir" scan "demo-data/$data" --memory "$limit"
done
echo
echo "\$ weir scan demo-data/chat --to jsonl -o - --memory $limit | head -n 1"
limited "$weir" scan demo-data/chat --to jsonl -o - --memory "$limit" --quiet | head -n 1 | cut -c1-160
