#!/usr/bin/env bash
# Prepares a table several times larger than the memory it is given: splits it,
# fits on train, transforms, writes and verifies, inside a memory cgroup of that
# size where one may be made. WEIR_DEMO_ROWS makes the table smaller or larger,
# WEIR_DEMO_DIR puts it elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${1:-128MiB}
bytes=$((${limit%MiB} << 20))
rows=${WEIR_DEMO_ROWS:-2000000}
data=${WEIR_DEMO_DIR:-demo-data}
weir=${WEIR_BIN:-$PWD/bin/weir}

if [ ! -e "$data/.made-$rows" ]; then
  echo "making raw data in $data/ (once) ..."
  rm -rf "$data"
  go run ./examples/sample -o "$data" -rows "$rows"
  touch "$data/.made-$rows"
fi

# group makes a memory cgroup of the limit, without swap, and prints its path;
# it fails, and leaves nothing, where it may not.
group() {
  local g hard swap most
  if [ -d /sys/fs/cgroup/memory ]; then
    g=/sys/fs/cgroup/memory/weir-demo-$$ hard=memory.limit_in_bytes swap=memory.memsw.limit_in_bytes most=$bytes
  else
    g=/sys/fs/cgroup/weir-demo-$$ hard=memory.max swap=memory.swap.max most=0
    grep -qw memory /sys/fs/cgroup/cgroup.subtree_control || echo +memory >/sys/fs/cgroup/cgroup.subtree_control || return 1
  fi
  mkdir "$g" || return 1
  if ! echo "$bytes" >"$g/$hard"; then
    rmdir "$g"
    return 1
  fi
  echo "$most" >"$g/$swap" || true # kernels without accounting of swap have no such file
  echo "$g"
}

# limited shows a command of weir and runs it inside the group.
limited() {
  echo
  echo "\$ weir $*"
  if [ -n "$g" ]; then
    (echo "$BASHPID" >"$g/cgroup.procs" && exec "$weir" "$@")
  else
    "$weir" "$@"
  fi
}

if g=$(group 2>/dev/null); then
  trap 'rmdir "$g"' EXIT
  echo "running inside a memory cgroup of $limit"
else
  g=
  echo "no memory cgroup may be made here: the report's peak is what shows the limit was kept"
fi

raw=$data/raw out=$data/prepared/
prepare=(prepare "$raw" -o "$out" --label target --split-by user_id --scale 'f*=standard,price=robust'
  --impute age=median --encode country=onehot --dtype float32 --memory "$limit" --force)
limited inspect "$raw" | head -n 15
limited "${prepare[@]}" --dry-run
limited "${prepare[@]}" --report "$data/report.html"
limited verify "$out" --memory "$limit"
limited scan "$data/chat" --memory "$limit"
echo
echo "The columns before and after, with histograms and the line of the memory: $data/report.html"
