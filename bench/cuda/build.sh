#!/usr/bin/env bash
# usage: bench/cuda/build.sh [BUILD_DIR] [cuda_bench|assembly|python]      (default: build-cuda cuda_bench)
#
# Builds bench/cuda/cuda_bench, or assembly_bench and assembly_device, or Python's kansetsu/_cuda.abi3.so, with plain nvcc and g++, without
# CMake and without a network: for machines that have a GPU and little else. Headers of Eigen and fmt are taken from
#   THIRD_PARTY_INCLUDE   (default: BUILD_DIR/include; made from /usr/include by "bench/cuda/build.sh --headers BUILD_DIR [PYTHON]",
#                         with the headers and the nanobind of a PYTHON from 3.12 on)
# Other settings: NVCC, CXX, CUDA_ARCH (sm_90), JOBS, OPTIMISE (-O3).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [[ "${1:-}" == --headers ]]; then
  target="${2:-build-cuda}/include"
  mkdir -p "$target"
  cp -r /usr/include/eigen3/Eigen /usr/include/fmt "$target/"
  if [[ -n "${3:-}" ]]; then
    mkdir -p "$target/python" "$target/nanobind"
    cp -r "$("$3" -c 'import sysconfig; print(sysconfig.get_path("include"))')/." "$target/python/"
    cp -r "$("$3" -c 'import nanobind, os; print(os.path.dirname(nanobind.__file__))')"/{include,src,ext} "$target/nanobind/"
  fi
  exit
fi

build="${1:-build-cuda}" what="${2:-cuda_bench}"
include="${THIRD_PARTY_INCLUDE:-$build/include}"
nvcc="${NVCC:-nvcc}" cxx="${CXX:-g++}" arch="${CUDA_ARCH:-sm_90}" jobs="${JOBS:-$(nproc)}"
[[ "$what" =~ ^(cuda_bench|assembly|python)$ ]] || { echo "build.sh: unknown '$what'; cuda_bench, assembly or python" >&2 && exit 2; }
command -v "$nvcc" >/dev/null || { echo "build.sh: no nvcc; set NVCC" >&2 && exit 1; }
cuda_root="$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")"
cuda_lib="$cuda_root/lib64"
[[ -d "$cuda_lib" ]] || cuda_lib="$cuda_root/lib"
objects="$build/bench-objects/$what"
mkdir -p "$objects"

common=(-std=c++20 "${OPTIMISE:--O3}" -MMD -Iinclude -Isrc -Ibench)
host=("${common[@]}" -ffp-contract=off -Wno-psabi -Wno-stringop-overflow -pthread -DFMT_HEADER_ONLY -DKANSETSU_HAVE_AVX2=1
  -DKANSETSU_HAVE_AVX512=1 -isystem "$include" -isystem "$cuda_root/include")
device=("${common[@]}" -arch="$arch" --expt-relaxed-constexpr -fmad=false)
# as in cmake/KansetsuCompile.cmake
declare -A isa_flags=([baseline]="-O2" [avx2]="-mavx2 -mfma -fschedule-insns -fsched-pressure"
  [avx512]="-mavx512f -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512 -fschedule-insns -fsched-pressure")
modules=(base spatial geometry model kinematics dynamics)
case "$what" in
  cuda_bench) devices=(src/batch/cuda/*.cu) own=(src/batch/cuda/*.cc bench/cuda/*.cc) programs=() ;;
  assembly)
    devices=(src/assembly/cuda/*.cu) own=(src/assembly/cuda/*.cc)
    modules+=(assembly) programs=(bench/assembly_bench.cc bench/assembly_device.cc)
    ;;
  python)
    devices=(src/batch/cuda/*.cu) own=(src/batch/cuda/*.cc python/cuda/module.cc "$include/nanobind/src/nb_combined.cpp") programs=()
    version="$(sed -n 's/^project(kansetsu VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
    device+=(-Xcompiler -fPIC)
    host+=(-fPIC -fvisibility=hidden -fno-strict-aliasing -DNDEBUG -DPy_LIMITED_API=0x030C0000 "-DKANSETSU_VERSION='\"$version\"'")
    host+=(-isystem "$include/python" -isystem "$include/nanobind/include" -isystem "$include/nanobind/ext/robin_map/include")
    ;;
esac

# One line per object that is missing or older than a file it was made from: the command that makes it.
commands() {
  local source module isa
  for source in "${devices[@]}"; do make_object "$source" "" "$nvcc" "${device[@]}"; done # the slowest first
  for module in "${modules[@]}"; do
    for source in src/"$module"/isa/*.cc; do
      [[ -f "$source" ]] || continue
      for isa in baseline avx2 avx512; do
        # shellcheck disable=SC2086 # several flags
        make_object "$source" ".$isa" "$cxx" "${host[@]}" ${isa_flags[$isa]} --param=sra-max-scalarization-size-Ospeed=8192 -DKANSETSU_ISA=$isa
      done
    done
    for source in src/"$module"/*.cc; do make_object "$source" "" "$cxx" "${host[@]}"; done
  done
  for source in "${own[@]}" "${programs[@]}"; do make_object "$source" "" "$cxx" "${host[@]}"; done
}
# make_object SOURCE SUFFIX COMMAND…
make_object() {
  local object="$objects/${1//\//_}$2.o" files
  if [[ -f "$object" && -f "${object%.o}.d" ]]; then
    read -r -d '' -a files < <(sed 's/^[^:]*: *//; s/\\$//' "${object%.o}.d") || true
    [[ -n "$(find "${files[@]}" -newer "$object" 2>&1 | head -1)" ]] || return 0
  fi
  echo "${*:3} -c $1 -o $object"
}
# link PROGRAM OBJECT…
link() {
  "$cxx" -pthread -o "$build/$1" "${@:2}" -L"$cuda_lib" -lcudart_static -ldl -lrt
  echo "built $build/$1"
}

commands | xargs -P "$jobs" -d '\n' -I{} bash -c '{} || { echo "failed: {}" >&2; exit 255; }'
if [[ "$what" == cuda_bench ]]; then
  link cuda_bench "$objects"/*.o
elif [[ "$what" == python ]]; then
  mkdir -p "$build/python/kansetsu"
  link python/kansetsu/_cuda.abi3.so -shared "$objects"/*.o
else
  for program in "${programs[@]}"; do
    link "$(basename "$program" .cc)" "$objects"/src_*.o "$objects/${program//\//_}.o"
  done
fi
