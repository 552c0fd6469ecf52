#include "library/time_network.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/json.h"
#include "graph/graph_json.h"
#include "library/reference_cache.h"
#include "runtime/host/buffer.h"
#include "runtime/host/peak.h"
#include "task/outcome.h"

namespace hone::library {
namespace {

// An instance with its buffers.
class Runner {
 public:
  explicit Runner(const LoadedNetwork& net) : net_(net) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() { net_.destroy(instance_); }

  Status Create(const std::string& params, const std::vector<std::vector<float>>& inputs) {
    const HoneNetInfo& info = net_.info();
    if (static_cast<size_t>(info.input_count) != inputs.size())
      return Status::Invalid("the library and its graph differ in their inputs");
    for (int i = 0; i < info.input_count; ++i) {
      if (info.inputs[i].bytes != inputs[static_cast<size_t>(i)].size() * sizeof(float)) {
        return Status::Invalid("the library and its graph differ in their inputs");
      }
      HONE_RETURN_IF_ERROR(AddBuffer(info.inputs[i].bytes, &in_));
      std::memcpy(buffers_.back().data(), inputs[static_cast<size_t>(i)].data(), info.inputs[i].bytes);
    }
    for (int i = 0; i < info.output_count; ++i) HONE_RETURN_IF_ERROR(AddBuffer(info.outputs[i].bytes, &out_));
    HoneNetOptions options{};
    options.params_path = params.c_str();
    options.pin = 1;
    return Check(net_.create(&options, &instance_));
  }

  Status Run() { return Check(net_.run(instance_, in_.data(), out_.data())); }
  Status Profile(double* seconds) { return Check(net_.profile_run(instance_, in_.data(), out_.data(), seconds)); }

  std::vector<std::vector<float>> Outputs() const {
    std::vector<std::vector<float>> outputs;
    for (int i = 0; i < net_.info().output_count; ++i) {
      const float* values = static_cast<const float*>(out_[static_cast<size_t>(i)]);
      outputs.emplace_back(values, values + net_.info().outputs[i].bytes / sizeof(float));
    }
    return outputs;
  }

 private:
  template <typename P>
  Status AddBuffer(uint64_t bytes, std::vector<P>* pointers) {
    HONE_ASSIGN_OR_RETURN(auto buffer, runtime::AlignedBuffer::Create(static_cast<int64_t>(bytes)));
    buffers_.push_back(std::move(buffer));
    pointers->push_back(buffers_.back().data());
    return Status();
  }
  Status Check(int code) const {
    if (code == HONE_NET_OK) return Status();
    return Status::Invalid(std::string(net_.info().network) + ": " + net_.strerror(code));
  }

  const LoadedNetwork& net_;
  HoneNet* instance_ = nullptr;
  std::vector<runtime::AlignedBuffer> buffers_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

Status ProfileLayers(Runner* runner, int64_t runs, size_t layers, std::vector<double>* medians) {
  std::vector<std::vector<double>> samples(layers);
  std::vector<double> seconds(layers);
  for (int64_t i = 0; i < runs; ++i) {
    HONE_RETURN_IF_ERROR(runner->Profile(seconds.data()));
    for (size_t layer = 0; layer < layers; ++layer) samples[layer].push_back(seconds[layer]);
  }
  for (const auto& layer : samples) medians->push_back(Median(layer));
  return Status();
}

}  // namespace

Result<TimeReply> TimeNetwork(const TimeRequest& request) {
  HONE_ASSIGN_OR_RETURN(const LibraryFolder folder, ReadLibraryFolder(request.dir));
  HONE_ASSIGN_OR_RETURN(const graph::Graph graph, graph::ReadGraph(folder.GraphPath()));
  HONE_ASSIGN_OR_RETURN(const LoadedNetwork net, LoadedNetwork::Load(folder.LibraryPath(), folder.identifier));
  const HoneNetInfo& info = net.info();
  TimeReply reply;
  reply.threads = info.threads;
  for (int i = 0; i < info.layer_count; ++i)
    reply.described.push_back({info.layers[i].name, info.layers[i].workload, info.layers[i].flop});
  {
    Runner runner(net);
    HONE_RETURN_IF_ERROR(runner.Create(folder.ParamsPath(), BenchInputs(graph, request.seed)));
    HONE_RETURN_IF_ERROR(runner.Run());
    if (request.outputs) reply.outputs = runner.Outputs();
    for (int64_t i = 1; i < request.warmup; ++i) HONE_RETURN_IF_ERROR(runner.Run());
    Clock* clock = RealClock();
    for (int64_t i = 0; i < request.iterations; ++i) {
      const double before = clock->NowSeconds();
      HONE_RETURN_IF_ERROR(runner.Run());
      reply.samples.push_back(clock->NowSeconds() - before);
    }
    if (request.profiled > 0) {
      HONE_RETURN_IF_ERROR(ProfileLayers(&runner, request.profiled, reply.described.size(), &reply.layers));
    }
  }
  if (request.peak_seconds > 0) reply.peak_flops = runtime::MeasureFmaPeak(info.threads, request.peak_seconds);
  return reply;
}

std::string RequestText(const TimeRequest& r) {
  Json json = {{"dir", r.dir},
               {"seed", r.seed},
               {"warmup", r.warmup},
               {"iterations", r.iterations},
               {"profiled", r.profiled},
               {"outputs", r.outputs},
               {"peak_seconds", r.peak_seconds}};
  return DumpJson(json, -1);
}

Result<TimeRequest> ParseRequest(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "request"));
  JsonReader reader(json, "request");
  TimeRequest r;
  int64_t seed = 0;
  HONE_RETURN_IF_ERROR(reader.Read("dir", &r.dir));
  HONE_RETURN_IF_ERROR(reader.Read("seed", &seed));
  HONE_RETURN_IF_ERROR(reader.Read("warmup", &r.warmup));
  HONE_RETURN_IF_ERROR(reader.Read("iterations", &r.iterations));
  HONE_RETURN_IF_ERROR(reader.Read("profiled", &r.profiled));
  HONE_RETURN_IF_ERROR(reader.Read("outputs", &r.outputs));
  HONE_RETURN_IF_ERROR(reader.Read("peak_seconds", &r.peak_seconds));
  r.seed = static_cast<uint64_t>(seed);
  return r;
}

std::string ReplyText(const TimeReply& r) {
  Json json = {{"samples", r.samples},
               {"layers", r.layers},
               {"outputs", r.outputs},
               {"peak_flops", r.peak_flops},
               {"threads", r.threads}};
  json["described"] = Json::array();
  for (const auto& layer : r.described)
    json["described"].push_back({{"name", layer.name}, {"workload", layer.workload}, {"flop", layer.flop}});
  return DumpJson(json, -1);
}

Result<TimeReply> ParseReply(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "reply"));
  JsonReader reader(json, "reply");
  TimeReply r;
  std::vector<JsonReader> described, outputs;
  HONE_RETURN_IF_ERROR(reader.Read("samples", &r.samples));
  HONE_RETURN_IF_ERROR(reader.Read("layers", &r.layers));
  HONE_RETURN_IF_ERROR(reader.Read("peak_flops", &r.peak_flops));
  HONE_RETURN_IF_ERROR(reader.Read("threads", &r.threads));
  HONE_RETURN_IF_ERROR(reader.Read("outputs", &outputs));
  HONE_RETURN_IF_ERROR(reader.Read("described", &described));
  for (const JsonReader& output : outputs) {
    std::vector<float>& values = r.outputs.emplace_back();
    // A value that is not finite is null in JSON.
    for (const Json& v : output.value()) values.push_back(v.is_number() ? v.get<float>() : NAN);
  }
  for (JsonReader& item : described) {
    TimeReply::Layer& layer = r.described.emplace_back();
    HONE_RETURN_IF_ERROR(item.Read("name", &layer.name));
    HONE_RETURN_IF_ERROR(item.Read("workload", &layer.workload));
    HONE_RETURN_IF_ERROR(item.Read("flop", &layer.flop));
  }
  return r;
}

}  // namespace hone::library
