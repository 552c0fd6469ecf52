#include "command/quantise/calibration.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/counted.h"
#include "base/file.h"
#include "library/reference.h"
#include "quantise/samples.h"

namespace hone::command {
namespace {

// The values of one input, from files in this order.
Result<quantise::Samples> ReadSamples(const std::vector<std::string>& files, const TensorType& type, int64_t most) {
  quantise::Samples all;
  for (const std::string& file : files) {
    if (all.count == most) break;
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    HONE_ASSIGN_OR_RETURN(const quantise::Samples some, quantise::ParseSamples(bytes, file, type, most - all.count));
    all.count += some.count;
    all.values.insert(all.values.end(), some.values.begin(), some.values.end());
  }
  return all;
}

Result<std::vector<std::string>> FilesOf(const std::string& path, const std::string& input, bool alone) {
  if (!Exists(path)) return Status::NotFound("{}: no such file or folder with calibration inputs", path);
  if (!IsDirectory(path)) {
    if (alone) return std::vector<std::string>{path};
    return Status::Invalid("{}: the network has several inputs; pass a folder with a file for each of them", path);
  }
  if (!alone) {
    for (const char* ending : {"", ".npy", ".bin", ".raw"}) {
      const std::string file = JoinPath(path, input + ending);
      if (Exists(file)) return std::vector<std::string>{file};
    }
    return Status::NotFound("{}: no file {}.npy, .bin or .raw for the network's input `{}`", path, input, input);
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(path));
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (name.front() != '.') files.push_back(JoinPath(path, name));
  }
  if (files.empty()) return Status::NotFound("{}: the folder has no calibration inputs", path);
  return files;
}

}  // namespace

Result<CalibrationInputs> ReadCalibration(const std::string& path, const graph::Graph& graph, int64_t samples) {
  const int64_t most = samples > 0 ? samples : std::numeric_limits<int64_t>::max();
  CalibrationInputs inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const graph::GraphInput& input = graph.inputs[i];
    HONE_ASSIGN_OR_RETURN(const auto files, FilesOf(path, input.name, graph.inputs.size() == 1));
    HONE_ASSIGN_OR_RETURN(const quantise::Samples read, ReadSamples(files, input.type, most));
    if (read.count < samples) {
      return Status::Invalid("{}: has {} for `{}`, but `samples` asks for {}", path, Counted(read.count, "input"),
                             input.name, samples);
    }
    if (i > 0 && inputs.size() != static_cast<size_t>(read.count)) {
      return Status::Invalid("{}: has {} for `{}`, but {} for `{}`", path, Counted(read.count, "input"), input.name,
                             inputs.size(), graph.inputs[0].name);
    }
    if (std::ranges::all_of(read.values, [&](float x) { return x == read.values.front(); })) {
      return Status::Invalid("{}: all values for `{}` are {}; calibration needs inputs as the network will get them",
                             path, input.name, read.values.front());
    }
    inputs.resize(static_cast<size_t>(read.count));
    const auto each = static_cast<size_t>(input.type.Elements());
    for (size_t sample = 0; sample < inputs.size(); ++sample) {
      TensorData& data = inputs[sample].emplace_back(input.type);
      std::memcpy(data.bytes.data(), read.values.data() + sample * each, data.bytes.size());
    }
  }
  return inputs;
}

CalibrationInputs SeededCalibration(const graph::Graph& graph, int64_t samples) {
  CalibrationInputs inputs;
  for (int64_t i = 1; i <= samples; ++i) inputs.push_back(library::BenchInputs(graph, static_cast<uint64_t>(i)));
  return inputs;
}

}  // namespace hone::command
