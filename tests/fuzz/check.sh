#!/bin/sh
# Runs the readers of untrusted files under libFuzzer for FUZZ_CHECK_SECONDS (6) each, as part of `make check` if
# clang-19 and libFuzzer's runtime are installed. `check.sh targets` prints the targets to build, or nothing if they
# cannot be built or FUZZ_CHECK_SECONDS is 0; `check.sh run FOLDER` is the test, which exits with 77 if it was skipped.
set -eu

seconds=${FUZZ_CHECK_SECONDS:-6}
readers="pipeline graph task_file records stamp lock best_file autotvm_log onnx"

possible() {
  [ "$seconds" -gt 0 ] && command -v clang++-19 >/dev/null &&
    echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++-19 -fsanitize=fuzzer,address -x c++ - -o /dev/null 2>/dev/null
}

case ${1:?usage: check.sh targets | run FOLDER} in
  targets) possible && printf 'fuzz_%s ' $readers || true ;;
  run)
    folder=${2:?usage: check.sh run FOLDER}
    skip() { echo "skipped: $*"; exit 77; }
    [ "$seconds" -gt 0 ] || skip "FUZZ_CHECK_SECONDS is 0"
    possible || skip "clang-19 with libFuzzer is missing"
    [ -e "$folder/bin/fuzz_pipeline" ] || skip "\`make check\` has not built $folder"
    exec "$(dirname "$0")/run.sh" "$folder" "$seconds" $readers
    ;;
esac
