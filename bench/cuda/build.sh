#!/usr/bin/env bash
# usage: bench/cuda/build.sh [BUILD_DIR]      (default: build-cuda)
#
# Builds bench/cuda/cuda_bench with plain nvcc and g++, without CMake and without a network: for machines that have a GPU and
# little else. Headers of Eigen and fmt are taken from
#   THIRD_PARTY_INCLUDE   (default: BUILD_DIR/include; made from /usr/include by "bench/cuda/build.sh --headers [BUILD_DIR]")
# Other settings: NVCC, CXX, CUDA_ARCH (sm_90), JOBS, OPTIMISE (-O3).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [[ "${1:-}" == --headers ]]; then
  target="${2:-build-cuda}/include"
  mkdir -p "$target"
  cp -r /usr/include/eigen3/Eigen /usr/include/fmt "$target/"
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

common=(-std=c++20 "${OPTIMISE:--O3}" -MMD -Iinclude -Isrc)
host=("${common[@]}" -ffp-contract=off -Wno-psabi -Wno-stringop-overflow -pthread -DFMT_HEADER_ONLY -isystem "$include" -isystem "$cuda_root/include")
device=("${common[@]}" -arch="$arch" --expt-relaxed-constexpr -fmad=false)

# One line per object that is missing or older than a file it was made from: the command that makes it.
commands() {
  local source
  for source in src/batch/cuda/*.cu; do make_object "$source" "$nvcc" "${device[@]}"; done # the slowest first
  for source in src/{dynamics,kinematics}/isa/*.cc; do
    make_object "$source" "$cxx" "${host[@]}" -DKANSETSU_ISA=baseline
  done
  for source in src/{base,spatial,geometry,model,kinematics,dynamics}/*.cc src/batch/cuda/*.cc bench/cuda/*.cc; do
    make_object "$source" "$cxx" "${host[@]}"
  done
}
make_object() {
  local object="$objects/${1//\//_}.o" files
  if [[ -f "$object" && -f "${object%.o}.d" ]]; then
    read -r -d '' -a files < <(sed 's/^[^:]*: *//; s/\\$//' "${object%.o}.d") || true
    [[ -n "$(find "${files[@]}" -newer "$object" 2>&1 | head -1)" ]] || return 0
  fi
  echo "${*:2} -c $1 -o $object"
}

commands | xargs -P "$jobs" -d '\n' -I{} bash -c '{} || { echo "failed: {}" >&2; exit 255; }'
"$cxx" -pthread -o "$build/cuda_bench" "$objects"/*.o -L"$cuda_lib" -lcudart_static -ldl -lrt
echo "built $build/cuda_bench"
