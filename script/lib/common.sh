# Shared by the commands in script/; sourced, not run. Leaves the caller in the repository root.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root" || exit

# Clones of the repository share what ccache holds: paths count from the root.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=true

# say TEXT…: a progress line. Messages go to stderr, so that a command's stdout holds its result only.
say() { printf '%s\n' "$*" >&2; }

# die TEXT…: the same, then stop.
die() {
  say "${0##*/}: $*"
  exit 1
}

# print_help: the header comment of the caller (the lines after #! up to the first line that is not a comment).
print_help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# handle_help "$@": prints the help and stops if asked for it.
handle_help() {
  local argument
  for argument in "$@"; do
    case "$argument" in
      -h | --help)
        print_help
        exit 0
        ;;
    esac
  done
}

# bad_usage ARGUMENT: stop with exit code 2 because of an unknown argument.
bad_usage() {
  say "${0##*/}: unknown argument '$1'; see ${0##*/} --help"
  exit 2
}

# job_count: how many compilers or tests to run side by side (KANSETSU_JOBS overrides).
job_count() { printf '%s' "${KANSETSU_JOBS:-$(nproc)}"; }

# quietly COMMAND…: shows the output only if the command fails.
quietly() {
  local log
  log="$(mktemp)"
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "failed: $*"
  fi
  rm -f "$log"
}

# configure_and_build PRESET [CMAKE OPTION…]
configure_and_build() {
  local preset="$1"
  shift
  say "== configure $preset"
  quietly cmake --preset "$preset" "$@"
  say "== build $preset"
  cmake --build --preset "$preset" -j "$(job_count)" >&2
}

# set_test_environment: what tests read. KANSETSU_BIN is the command under test, PYTHONPATH leads to the Python package; KANSETSU_DATA_DIR, the folder of recorded
# files, is taken from ../shared/data unless given; tests that need it are skipped where there is none.
set_test_environment() {
  export KANSETSU_BIN="$root/build/kansetsu" PYTHONPATH="$root/build/python"
  if [[ -z "${KANSETSU_DATA_DIR:-}" && -d "$root/../shared/data" ]]; then
    KANSETSU_DATA_DIR="$(cd "$root/../shared/data" && pwd)"
    export KANSETSU_DATA_DIR
  fi
}
