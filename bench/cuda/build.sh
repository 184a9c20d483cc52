#!/usr/bin/env bash
# usage: bench/cuda/build.sh [BUILD_DIR]      (default: build-cuda)
#
# Builds bench/cuda/cuda_bench with plain nvcc and g++, without CMake and without a network: for machines that have a GPU and
# little else. Headers of Eigen and fmt are taken from
#   THIRD_PARTY_INCLUDE   (default: BUILD_DIR/include; made from /usr/include by "bench/cuda/build.sh --headers [BUILD_DIR]")
# Other settings: NVCC, CXX, CUDA_ARCH (sm_90), JOBS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [[ "${1:-}" == --headers ]]; then
  target="${2:-build-cuda}/include"
  mkdir -p "$target/Eigen/src"
  cp /usr/include/eigen3/Eigen/Core "$target/Eigen/"
  cp -r /usr/include/eigen3/Eigen/src/{Core,plugins} "$target/Eigen/src/"
  cp -r /usr/include/fmt "$target/"
  exit
fi

build="${1:-build-cuda}"
include="${THIRD_PARTY_INCLUDE:-$build/include}"
nvcc="${NVCC:-nvcc}" cxx="${CXX:-g++}" arch="${CUDA_ARCH:-sm_90}" jobs="${JOBS:-$(nproc)}"
command -v "$nvcc" >/dev/null || { echo "build.sh: no nvcc; set NVCC" >&2 && exit 1; }
cuda_root="$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")"
cuda_lib="$cuda_root/lib64"
[[ -d "$cuda_lib" ]] || cuda_lib="$cuda_root/lib"
objects="$build/bench-objects"
mkdir -p "$objects"

common=(-std=c++20 -O3 -Iinclude -Isrc)
host=("${common[@]}" -ffp-contract=off -Wno-psabi -pthread -DFMT_HEADER_ONLY -isystem "$include" -isystem "$cuda_root/include")
device=("${common[@]}" -arch="$arch" --expt-relaxed-constexpr -fmad=false)

# One line per object that is older than any source: the command that makes it.
newest="$(find include src bench/cuda -type f -printf '%T@\n' | sort -n | tail -1)"
commands() {
  local source object
  for source in src/batch/cuda/*.cu; do # the slowest first
    object="$objects/$(tr / _ <<<"$source").o"
    stale "$object" && echo "$nvcc ${device[*]} -c $source -o $object"
  done
  for source in src/{dynamics,kinematics}/isa/*.cc; do
    object="$objects/$(tr / _ <<<"$source").o"
    stale "$object" && echo "$cxx ${host[*]} -DKANSETSU_ISA=baseline -c $source -o $object"
  done
  for source in src/{base,spatial,model,kinematics,dynamics}/*.cc src/batch/cuda/*.cc bench/cuda/*.cc; do
    object="$objects/$(tr / _ <<<"$source").o"
    stale "$object" && echo "$cxx ${host[*]} -c $source -o $object"
  done
  return 0
}
stale() { [[ ! -f "$1" ]] || awk "BEGIN { exit !($(stat -c %.9Y "$1") < $newest) }"; }

commands | xargs -P "$jobs" -d '\n' -I{} bash -c '{} || { echo "failed: {}" >&2; exit 255; }'
"$cxx" -pthread -o "$build/cuda_bench" "$objects"/*.o -L"$cuda_lib" -lcudart_static -ldl -lrt
echo "built $build/cuda_bench"
