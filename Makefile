# Common commands; README.md explains them. `make help` prints this list.
#
#   make deps                install missing Debian packages (root or sudo)
#   make build               build the tools into build/bin
#   make test                build, run the tests that need no real tool, no device and no fuzzing
#   make check               build, run all tests, end with `N passed, N failed, N skipped`
#   make tune-NET-TARGET     from nothing to a tuned, benchmarked library: make tune-resnet18-cpu
#   make bench-peers         compare with other engines; JOBS="resnet18 vgg16": which pipelines
#   make sweep               measure every point of the spaces of tests/replay/tasks.txt; SET=report, develop or sketch
#   make replay              compare tuners on measured spaces; TUNERS=auto,random; LIKE= for Hone's constants;
#                            SPACES=work/sweep for the result of `make sweep` instead of tests/replay/spaces
#   make sketch-check        measure derived sketches: speed of the search, layers and networks beside templates;
#                            PARTS="dags draw replay layers pace both": only these (half an hour, on an idle machine)
#   make gate-check          test the regression gate: JOB=squeezenet_v1.1.cpu GATE_SECONDS=55
#   make predict-check       compare networks with the sums of their kernels: PREDICT="resnet18.cpu vgg16.cpu"
#   make check-refactor      compare code, ids, stamps and libraries with the commit BASE; PARTS="probe nets": only these
#   make check-onnx          run ONNX's backend tests; UPDATE=1 rewrites the lists of what must pass
#   make fuzz                run the fuzzers, FUZZ_SECONDS each; FUZZ="pipeline graph": only these (clang-19)
#   make check-asan          test everything that reads files under the address and undefined sanitizers (clang-19)
#   make check-tsan          test everything with threads under the thread sanitizer
#   make fault-rounds        inject ROUNDS of faults from SEED: kills, full disk, damaged records, bad candidates
#   make fault-each          let each system call of each tool fail, one at a time; cut the power after each write;
#                            HONE_EACH_JOB="tune,plan again" HONE_EACH_KIND=open: only these jobs and calls
#   make environment-rounds  tune while the environment fails: ROUNDS of each kind from SEED; KINDS='*shm*': only these
#   make load-check          find times and choices that noisy neighbours spoil (on an otherwise idle machine)
#   make aa-check            count the differences that hone-bench claims: RUNS of equal libraries under load, and of a
#                            library that is 5 % slower (on an otherwise idle machine); PART="load": only these
#   make tidy                check the code with clang-tidy-19; FILES='lib/base/.*': only these
#   make check-gpu-only      build without LLVM and test the GPU side (PoCL, NVRTC if present)
#   make bundle-cuda         make build/hone-cuda-x86_64.tar.gz for a machine with a GPU; run run-gpu-checks there
#   make clean               remove build/ (never work/: records are measured time)

WORK ?= work
BUILD ?= build
CMAKE_FLAGS ?=

.PHONY: tidy bundle-cuda check-gpu-only help deps build test check plan bench-peers sweep replay sketch-check gate-check \
  predict-check check-refactor check-onnx fuzz check-asan check-tsan \
  fault-rounds fault-each environment-rounds load-check aa-check clean
.DEFAULT_GOAL := help
# Not parallel: the targets below share one build folder, and ninja runs jobs in parallel itself.
.NOTPARALLEL:

help:
	@sed -n 's/^#   //p' Makefile

deps:
	@packaging/install-packages.sh packaging/apt-packages.txt

build: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=NOTICE $(CMAKE_FLAGS)
	@ninja -C $(BUILD) tools

check: build
	@ninja -C $(BUILD)
	@fuzzers=$$(tests/fuzz/check.sh targets); if [ -n "$$fuzzers" ]; then \
	  $(MAKE) -s $(SANITIZED)/build.ninja && ninja -C $(SANITIZED) $$fuzzers; fi
	@tests/run_all.sh $(BUILD)

test: build
	@ninja -C $(BUILD)
	@tests/run_all.sh $(BUILD) -LE '^(cli|error|fault|device)$$' -E '^fuzz_check$$'

plan: build
	@$(BUILD)/bin/hone-plan --pipelines pipelines --work $(WORK) --tools $(BUILD)/bin

# Runs Ninja. If it does not know the target, says which ones there are.
define ninja
@ninja -C $(WORK) $@ || { code=$$?; ninja -C $(WORK) -t query $@ > /dev/null 2>&1 || \
  printf 'make: no pipeline makes %s: pipelines/NET.toml makes tune-NET-TARGET for each of its `targets`; there are\n%s\n' \
    $@ "$$(ninja -C $(WORK) -t targets all | sed -n 's/^\(tune-.*\): phony$$/\1/p' | tr '\n' ' ' | fold -s -w 118)" >&2; \
  exit $$code; }
endef

# Runs a whole chain and prints its report; plain `ninja -C work tune-...` does the same without printing it.
tune-%: plan
	$(ninja)
	@for dir in $(WORK)/report/*.*/; do \
	  if [ "tune-$$(basename "$$dir" | sed 's/\.\([^.]*\)$$/-\1/')" = $@ ]; then cat "$$dir/report.md"; fi; \
	done

# The steps of that chain.
records-% best-% build-% bench-%: plan
	$(ninja)

bench-peers: build
	@packaging/install-packages.sh packaging/apt-packages-peers.txt
	@tests/perf/bench_peers.sh $(BUILD) $(WORK) $(JOBS)

SET ?= report
TUNERS ?= auto,xgb_knob,ga,random
# Tuners except auto use this system's constants; empty: their own.
LIKE ?= autotvm
SPACES ?= tests/replay/spaces
sweep: build
	@ninja -C $(BUILD) space_sweep
	@$(BUILD)/bin/space_sweep --tasks=tests/replay/tasks.txt --work=$(WORK)/sweep --set=$(SET)

replay: build
	@ninja -C $(BUILD) replay_bench
	@$(BUILD)/bin/replay_bench --tuners=$(TUNERS) $(if $(LIKE),--like-$(LIKE)) --each \
	  $$(awk -v set=$(SET) '$$1 == set { print "$(SPACES)/" $$2 ".replay" }' tests/replay/tasks.txt)

PARTS ?= dags draw replay layers pace both
sketch-check: build
	@ninja -C $(BUILD) agree_sketches_test replay_bench sketch_perf
	@tests/perf/sketch_check.sh $(BUILD) $(WORK) $(PARTS)

JOB ?= squeezenet_v1.1.cpu
GATE_SECONDS ?= 55
gate-check: build
	@ninja -C $(BUILD) gate_check
	@test -d $(WORK)/gate/slower || $(BUILD)/bin/gate_check make --work=$(WORK) --job=$(JOB) --dir=$(WORK)/gate
	@$(BUILD)/bin/gate_check nights --dir=$(WORK)/gate --seconds=$(GATE_SECONDS)
	@$(BUILD)/bin/gate_check report --dir=$(WORK)/gate

# PREDICT lists jobs of the folder that are already tuned.
PREDICT ?= resnet18.cpu
predict-check: build
	@ninja -C $(BUILD) predict_check
	@$(BUILD)/bin/predict_check --work=$(WORK) $(PREDICT)

BASE ?= HEAD~1
check-refactor: build
	@tests/refactor/check.sh $(BUILD) $(BASE)

check-onnx: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=NOTICE $(CMAKE_FLAGS)
	@ninja -C $(BUILD) onnx_backend
	@tests/onnx/check_onnx.sh $(BUILD) $(if $(UPDATE),--update)

# fuzz and check-asan share a build folder, since fuzzers are also built with the sanitizers.
# FUZZ_CHECK_SECONDS: for each fuzzer in `make check`; 0: none.
FUZZ_SECONDS ?= 120
FUZZ_CHECK_SECONDS ?= 6
export FUZZ_CHECK_SECONDS
FUZZ ?=
SANITIZED := $(BUILD)/asan
empty :=
space := $(empty) $(empty)
$(SANITIZED)/build.ninja:
	@cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_BUILD_TYPE=Release -DHONE_FUZZ=ON --log-level=NOTICE \
	  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19

fuzz: $(SANITIZED)/build.ninja
	@tests/fuzz/run.sh $(SANITIZED) $(FUZZ_SECONDS) $(FUZZ)

# HACKING.md explains the choice of tests.
ASAN_TESTS := fuzz_corpus_test nightly_test pipeline_test quantise_test runtime_vta_test target_test task_test unit_autotvm unit_base unit_record unit_report \
  unit_space
TSAN_TESTS := auto_test semantics_test feature_rows_test merge_records_test runtime_host_test unit_base
check-asan: $(SANITIZED)/build.ninja
	@ninja -C $(SANITIZED) $(ASAN_TESTS)
	@tests/run_all.sh $(SANITIZED) -R '^($(subst $(space),|,$(ASAN_TESTS)))$$'

check-tsan:
	@cmake -S . -B $(BUILD)/tsan -G Ninja -DCMAKE_BUILD_TYPE=Release -DHONE_TSAN=ON --log-level=NOTICE
	@ninja -C $(BUILD)/tsan $(TSAN_TESTS)
	@tests/run_all.sh $(BUILD)/tsan -R '^($(subst $(space),|,$(TSAN_TESTS)))$$'

# In units of several files, as everything is built, which takes a tenth of the time of single files.
FILES ?= (lib|tools|examples)/.*
tidy: deps
	@cmake -S . -B $(BUILD)/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DHONE_PRECOMPILE=OFF --log-level=NOTICE \
	  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19
	@run-clang-tidy-19 -p $(BUILD)/tidy -quiet -warnings-as-errors='*' '/$(FILES)\.(cc|cxx)$$'

ROUNDS ?= 200
SEED ?= 1

fault-rounds: build
	@ninja -C $(BUILD) fault_test
	@HONE_FAULT_ROUNDS=$(ROUNDS) HONE_FAULT_SEED=$(SEED) $(BUILD)/bin/fault_test

# Takes over an hour. EACH=20: a sample of 20 calls of each kind. A share of it, by HONE_EACH_JOB or HONE_EACH_KIND, cuts
# no power.
EACH ?= all
fault-each: build
	@ninja -C $(BUILD) each_failure_test power_cut_test
	@test -n "$$HONE_EACH_JOB$$HONE_EACH_KIND" || HONE_EACH=$(EACH) $(BUILD)/bin/power_cut_test
	@HONE_EACH=$(EACH) $(BUILD)/bin/each_failure_test

environment-rounds: ROUNDS = 50
environment-rounds: KINDS ?= *
environment-rounds: build
	@ninja -C $(BUILD) environment_test
	@HONE_FAULT_ROUNDS=$(ROUNDS) HONE_FAULT_SEED=$(SEED) $(BUILD)/bin/environment_test --gtest_filter='*/$(KINDS)'

load-check: build
	@ninja -C $(BUILD) load_perf mark_perf
	@$(BUILD)/bin/mark_perf
	@$(BUILD)/bin/load_perf

RUNS ?= 100
PART ?= load idle
aa-check: build
	@ninja -C $(BUILD) aa_check
	@$(BUILD)/bin/aa_check $(PART) --runs=$(RUNS) --seed=$(SEED)

# A build without LLVM can tune for GPUs, but not for CPUs.
check-gpu-only: deps
	@cmake -S . -B $(BUILD)/gpu-only -G Ninja -DCMAKE_BUILD_TYPE=Release -DHONE_LLVM=OFF --log-level=NOTICE $(CMAKE_FLAGS)
	@ninja -C $(BUILD)/gpu-only tools $(GPU_TESTS)
	@tests/run_all.sh $(BUILD)/gpu-only -R '^($(subst $(space),|,$(GPU_TESTS)))$$'
GPU_TESTS = elf_object_test elf_test device_opencl_test device_cuda_code_test device_nvrtc_versions_test device_cuda_runtime_test lower_gpu_test lower_gpu_passes_test op_gpu_test \
  agree_interpreter_test agree_gpu_templates_test agree_cuda_test agree_opencl_test library_cuda_test library_opencl_test cli_gpu_network_test gpu_check_test gpu_first_hour_test

bundle-cuda: deps
	@packaging/cuda/bundle.sh $(BUILD)/bundle $(BUILD)/hone-cuda-x86_64.tar.gz $(CMAKE_FLAGS)

clean:
	rm -rf $(BUILD)
