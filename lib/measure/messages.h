// The messages to and from the measuring child, as JSON (one object each). Both ends are from the same build.
//   parent                                          child
//   {"do":"setup", ...TaskSetup}                    {"ok":true,"peak":F}  or  {"ok":false,"error":TEXT}
//   {"do":"measure","kernel":K,"incumbent":S}       {"ok":true,"outcome":{...}}
//   {"do":"verify","kernel":K}                      {"ok":true,"error":NAME}
//   {"do":"interleaved","kernels":[K..],"rounds":N} {"ok":true,"series":[{"seconds":[S..],..}..]}
// Every answer has "peak", which may grow, "lost" if the child cannot continue (its device has failed), and "slowed" if
// the device was slowed down: the reason.
//
// A line with the request's id precedes the JSON of a request and of its answer. A candidate that writes into the
// channel would have to find the id in memory.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "measure/builder.h"
#include "measure/kernel.h"
#include "measure/protocol.h"
#include "task/outcome.h"

namespace hone::measure {

// The task and the protocol: the same for all candidates of a task.
struct TaskSetup {
  std::vector<Operand> operands;  // the last one is the output
  std::string reference_path;     // measure/reference.h
  std::string reference_key;
  double flop = 0;       // per run, 0 if unknown
  int64_t products = 1;  // semantics::ProductsOfData
  int threads = 1;
  std::string target;                       // Target::Text() for a device; empty: this host
  std::string device;                       // Machine::Environment of the device to measure on; empty: any
  std::vector<std::string> kernel_folders;  // the child can open no other files; ChildMeasurer fills this in
  Protocol protocol;

  // Whether the task has bytes, so that their peak applies (runtime/host/peak.h).
  bool OfBytes() const {
    return std::ranges::any_of(operands, [](const Operand& o) { return o.logical.type.bits == 8; });
  }
};

void ListFields(Fields* f, TaskSetup* setup);
void ListFields(Fields* f, BuildResult* result);
void ListFields(Fields* f, Series* series);
// Contains only the results of measuring: state, error, error_text, samples, median, measure_seconds.
Json VerdictToJson(const Outcome& outcome);
Status VerdictFromJson(const Json& json, Outcome* outcome);

// Whether a sound child could have sent this: the right number of samples, positive and finite, and the median that
// follows from them. A candidate may have written over the child's memory. Returns kCorrupt.
Status CheckVerdict(const Outcome& outcome, const Protocol& protocol);
Status CheckSeries(const Series& series, int rounds);

}  // namespace hone::measure
