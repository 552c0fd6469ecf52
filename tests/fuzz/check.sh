#!/bin/sh
# The readers of what others may have written, under libFuzzer for FUZZ_CHECK_SECONDS (20) each: a part of `make check`
# where clang-19 and libFuzzer's runtime are there. `check.sh targets` prints what is to be built, nothing where it cannot
# be or FUZZ_CHECK_SECONDS is 0; `check.sh run FOLDER` is the test: exit code 77 says that it was skipped.
set -eu

seconds=${FUZZ_CHECK_SECONDS:-20}
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
