// One case of ONNX's backend tests: a model, inputs and the outputs that it must give.
#pragma once

#include <string>

namespace hone::onnx {

// kFolded: all inputs are constant, so that the importer computes the outputs, they are right, and no kernel ran.
enum class Outcome { kPassed, kFolded, kFailed, kUnsupported };

struct CaseResult {
  Outcome outcome = Outcome::kFailed;
  std::string op;      // the model's operator, "several" if it has more than one node
  std::string reason;  // one line, empty if passed
};

// The folder `dir` of a case: model.onnx, test_data_set_0/{input,output}_N.pb. Imported with default shapes, built into
// a library with default configurations (with `reference`: run by graph::RunReference instead), run, compared.
//
// Inputs that are not float32 are taken as constants, which is what they are in models; so are, where that makes the
// difference between supported and not, all inputs but the first (weights). A case whose inputs are all constant then
// tests the importer alone.
CaseResult RunCase(const std::string& dir, bool reference);

}  // namespace hone::onnx
