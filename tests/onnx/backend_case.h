// One case of ONNX's backend tests: a model, inputs and the expected outputs.
#pragma once

#include <string>

namespace hone::onnx {

// kFolded: all inputs are constant, so the importer computed the outputs correctly and no kernel ran.
enum class Outcome { kPassed, kFolded, kFailed, kUnsupported };

struct CaseResult {
  Outcome outcome = Outcome::kFailed;
  std::string op;      // the model's operator; "several" if it has several nodes
  std::string reason;  // one line, empty if passed
};

// Runs the case in folder `dir`: model.onnx, test_data_set_0/{input,output}_N.pb. Imports it with default shapes,
// builds a library with default configurations (with `reference`: uses graph::RunReference instead), runs it and
// compares.
//
// Inputs of other types than float32 become constants, which they are in models; in quantised models, u8, i8 and i32
// stay inputs. If the case is unsupported otherwise, all inputs but the first (weights) become constants. A case whose
// inputs are all constant then tests only the importer.
// Outputs may also differ by `step`.
CaseResult RunCase(const std::string& dir, bool reference, double step = 0);

}  // namespace hone::onnx
