#include "command/confirm/earlier_answer.h"

#include "base/file.h"
#include "base/hash.h"
#include "command/confirm/confirm.h"
#include "compile/compile.h"
#include "graph/graph_json.h"
#include "measure/protocol.h"
#include "op/space_version.h"
#include "session/fingerprint.h"

namespace hone::command {

using pipeline::BestEntry;
using pipeline::BestFile;
using pipeline::Finalist;

std::string QuestionKey(const ConfirmQuestion& question) {
  std::string text = ConfirmAbi() + "\n" + question.target.Text() + "\n" +
                     Digest128(graph::GraphText(question.graph)).Hex() + "\n" +
                     session::HostFingerprint(compile::CodegenVersion(), measure::kProtocolVersion) + "\n";
  for (const pipeline::Alternative& alternative : question.best.alternatives) {
    for (const pipeline::AlternativeNode& node : alternative.by) text += node.name + " " + node.workload + "\n";
  }
  // Steps identify tuned kernels, below; versions of templates identify all others.
  for (const graph::Node& node : question.graph.nodes) {
    const auto version = op::TaskSpaceVersion(node.workload, question.target);
    if (version.ok()) text += *version + "\n";
  }
  for (const BestEntry& task : question.best.tasks) {
    if (question.tasks.count(task.id) == 0) continue;
    std::set<std::string> configs;
    for (const Finalist& f : task.finalists) configs.insert(f.config.ValueDigest().Hex() + f.steps_digest);
    text += task.id;
    for (const std::string& config : configs) text += " " + config;
    text += "\n";
  }
  return Digest128(text).Hex();
}

std::optional<BestFile> EarlierAnswer(const ConfirmQuestion& question, const std::string& path) {
  if (!Exists(path)) return std::nullopt;
  const Result<BestFile> earlier = pipeline::ReadBestFile(path);
  if (!earlier.ok() || !earlier->in_network || earlier->in_network->key != QuestionKey(question)) return std::nullopt;
  BestFile best = question.best;
  best.in_network = earlier->in_network;
  best.alternatives = earlier->alternatives;
  best.share = earlier->share;
  for (BestEntry& task : best.tasks) {
    if (question.tasks.count(task.id) == 0) continue;
    const BestEntry* then = earlier->Find(task.id);
    if (then == nullptr) return std::nullopt;
    for (Finalist& f : task.finalists) {
      for (const Finalist& old : then->finalists) {
        if (old.config == f.config) f.in_network = old.in_network;
      }
      if (then->config == f.config) task.Choose(f);
    }
    if (task.config != then->config) return std::nullopt;
  }
  return best;
}

}  // namespace hone::command
