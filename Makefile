# The front door. Everything here is one or two commands that can be typed as well; see README.md.
#
#   make deps                install the Debian packages that are missing (root or sudo)
#   make build               build the tools into build/bin
#   make check               build, run all tests, end with `N passed, N failed, N skipped`
#   make tune-NET-TARGET     from nothing to a tuned library and its figures: make tune-resnet18-cpu
#   make bench-peers         latencies beside other engines'; JOBS="resnet18 vgg16" says of which pipelines
#   make sweep               measure every point of the spaces of tests/replay/tasks.txt; SET=report or develop
#   make replay              how well the tuners search those spaces, as a table; TUNERS=auto,random
#   make gate-check          nights of equal libraries, and of one made slower: JOB=squeezenet_v1.1.cpu GATE_SECONDS=55
#   make check-onnx          ONNX's backend tests through the whole chain: passed, failed, not supported, by operator
#   make fuzz-onnx           the ONNX reader under libFuzzer, FUZZ_SECONDS long (clang-19)
#   make clean               remove build/ (never work/: records are measured time)

WORK ?= work
BUILD ?= build
CMAKE_FLAGS ?=

.PHONY: help deps build check plan bench-peers sweep replay gate-check check-onnx fuzz-onnx clean
.DEFAULT_GOAL := help
# The targets below share one build folder, and ninja is parallel by itself.
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
	@tests/run_all.sh $(BUILD)

plan: build
	@$(BUILD)/bin/hone-plan --pipelines pipelines --work $(WORK) --tools $(BUILD)/bin

# A whole chain, down to its report; plain `ninja -C work tune-...` does the same without showing it.
tune-%: plan
	@ninja -C $(WORK) $@
	@for dir in $(WORK)/report/*.*/; do \
	  if [ "tune-$$(basename "$$dir" | sed 's/\.\([^.]*\)$$/-\1/')" = $@ ]; then cat "$$dir/report.md"; fi; \
	done

# Its parts.
records-% best-% build-% bench-%: plan
	@ninja -C $(WORK) $@

bench-peers: build
	@packaging/install-packages.sh packaging/apt-packages-peers.txt
	@tests/perf/bench_peers.sh $(BUILD) $(WORK) $(JOBS)

SET ?= report
TUNERS ?= auto,xgb_knob,ga,random
sweep: build
	@ninja -C $(BUILD) space_sweep
	@$(BUILD)/bin/space_sweep --tasks=tests/replay/tasks.txt --work=$(WORK)/sweep --set=$(SET)

replay: build
	@ninja -C $(BUILD) replay_bench
	@$(BUILD)/bin/replay_bench --tuners=$(TUNERS) --like-autotvm --each \
	  $$(awk -v set=$(SET) '$$1 == set { print "$(WORK)/sweep/" $$2 ".replay" }' tests/replay/tasks.txt)

JOB ?= squeezenet_v1.1.cpu
GATE_SECONDS ?= 55
gate-check: build
	@ninja -C $(BUILD) gate_check
	@test -d $(WORK)/gate/slower || $(BUILD)/bin/gate_check make --work=$(WORK) --job=$(JOB) --out=$(WORK)/gate
	@$(BUILD)/bin/gate_check equal --dir=$(WORK)/gate --seconds=$(GATE_SECONDS)
	@$(BUILD)/bin/gate_check slower --dir=$(WORK)/gate --seconds=$(GATE_SECONDS)
	@$(BUILD)/bin/gate_check report --dir=$(WORK)/gate

check-onnx: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=NOTICE $(CMAKE_FLAGS)
	@ninja -C $(BUILD) onnx_backend
	@tests/onnx/check_onnx.sh $(BUILD)

# Seeds: whole models and those that once broke something. What it finds interesting is kept in the build folder.
FUZZ_SECONDS ?= 120
fuzz-onnx:
	@cmake -S . -B $(BUILD)/fuzz -G Ninja -DCMAKE_BUILD_TYPE=Release -DHONE_FUZZ=ON --log-level=NOTICE \
	  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19
	@ninja -C $(BUILD)/fuzz fuzz_onnx
	@mkdir -p $(BUILD)/fuzz/corpus
	@$(BUILD)/fuzz/bin/fuzz_onnx -max_total_time=$(FUZZ_SECONDS) -timeout=20 -max_len=65536 \
	  $(BUILD)/fuzz/corpus tests/fuzz/onnx/corpus $(wildcard tests/data/onnx/*/)

clean:
	rm -rf $(BUILD)
