// hone-quantise: makes a network of integers of one of floats.
#include "base/flags.h"
#include "base/interrupt.h"
#include "command/quantise/quantise.h"

int main(int argc, char** argv) {
  hone::command::QuantiseOptions options;
  hone::Flags flags("hone-quantise",
                    "Quantises a network to 8 bits, by the ranges of its tensors on calibration inputs.");
  flags
      .Add("--network", &options.network,
           "a built-in network, a graph file (*.json), an ONNX model (*.onnx), or the text of one workload")
      .Required();
  flags.Add("--plugin", &options.plugins, "a library with operators of your own (repeatable)");
  flags.Add("--input", &options.inputs, "the shape of an ONNX model's input: NAME=1,3,224,224 (repeatable)");
  flags.Add("--parameter-file", &options.parameter_file, "file with the values of the graph's `file` parameters");
  flags.Add("--batch", &options.batch, "batch size of a built-in network").ShowDefault();
  flags.Add("--target", &options.target, "target file (JSON) of this machine").Required();
  flags.Add("--data", &options.data, "file or folder of calibration inputs (default: seeded ones)");
  flags.Add("--settings", &options.settings, "settings file, instead of the next seven flags");
  flags.Add("--samples", &options.samples, "calibration inputs to use (0: all; 8 if seeded)").Within(0, 1e6);
  flags.Add("--method", &options.method, "range of a tensor: max, percentile or kl").ShowDefault();
  flags.Add("--percentile", &options.percentile, "for --method percentile").ShowDefault();
  flags.Add("--scheme", &options.scheme, "grid of a tensor: affine, symmetric or power2").ShowDefault();
  flags.Add("--per-tensor", &options.per_tensor, "one scale for a weight, instead of one for each output channel");
  flags.Add("--no-bias-correction", &options.no_bias_correction, "leave biases as they are");
  flags.Add("--keep", &options.keep, "a node that stays float32 (repeatable)");
  flags.Add("--graph", &options.graph, "graph file to write");
  flags.Add("--parameters", &options.parameters, "parameter file to write").Required();
  flags.Add("--report", &options.report, "report to write (JSON)");
  flags.Add("--onnx", &options.onnx, "ONNX model to write, for other engines (QDQ)");
  if (const auto code = flags.Parse(argc, argv, hone::command::QuantiseAbi)) return *code;
  hone::InstallInterruptHandlers();
  return hone::command::RunQuantise(options);
}
