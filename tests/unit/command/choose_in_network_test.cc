// The decisions of hone-confirm for given times: with real times, a reversed comparison would pass.
#include "command/confirm/choose_in_network.h"

#include "common/expect.h"

namespace hone::command {
namespace {

using library::Compared;
using pipeline::BestEntry;
using pipeline::BestFile;
using pipeline::Finalist;
using pipeline::InNetwork;

// Networks that are never built; `run` returns their times.
class FakeTrials final : public NetworkTrials {
 public:
  Result<TrialNetwork> Build(const BestFile& choice) override {
    TrialNetwork network;
    network.folder = std::to_string(built.size());
    network.params_bytes = params_bytes;
    network.slices = choice.share.slices ? slices : 0;
    network.in_place = choice.share.in_place ? in_place : 0;
    built.push_back(choice);
    return network;
  }
  void Drop(const TrialNetwork&) override {}
  Result<std::vector<Compared>> Compare(const std::vector<TrialNetwork>& networks,
                                        const library::CompareOptions& options) override {
    layers_asked.push_back(options.layers);
    std::vector<Compared> compared;
    for (const TrialNetwork& network : networks) compared.push_back(run(built[std::stoul(network.folder)]));
    return compared;
  }
  std::string TaskOf(const std::string& workload) const override {
    auto found = tasks.find(workload);
    return found == tasks.end() ? "" : found->second;
  }

  std::function<Compared(const BestFile&)> run;
  int64_t params_bytes = 1;
  int slices = 0, in_place = 0;
  std::map<std::string, std::string> tasks;  // by workload
  std::vector<BestFile> built;
  std::vector<bool> layers_asked;  // one per call of Compare
};

struct Layer {
  std::string name, workload;
  double seconds = 0;
};

Compared Timed(const std::vector<Layer>& layers) {
  Compared compared;
  double sum = 0;
  for (const Layer& layer : layers) {
    compared.names.push_back(layer.name);
    compared.workloads.push_back(layer.workload);
    compared.layers.push_back(std::vector<double>(1, layer.seconds));
    sum += layer.seconds;
  }
  compared.runs.push_back(sum);
  return compared;
}

// A task whose finalists are the points 0, 1, .. of a template; the first is chosen.
BestEntry Task(const std::string& id, size_t finalists) {
  BestEntry entry{.id = id, .workload = "work of " + id, .source = pipeline::BestSource::kTuned};
  for (size_t k = 0; k < finalists; ++k) {
    Finalist finalist;
    finalist.config.template_name = "t";
    finalist.config.index = k;
    finalist.median = 1e-3 * static_cast<double>(k + 1);
    entry.finalists.push_back(finalist);
  }
  entry.Choose(entry.finalists[0]);
  return entry;
}

uint64_t Chosen(const BestFile& best, size_t task) { return best.tasks[task].config->index; }

TEST(ChooseFinalists, TheFastestInTheNetworkIfItGainsOnePercent) {
  // Seconds of a layer by task and finalist. `twice` has two layers, `absent` has none.
  const std::map<std::string, std::vector<double>> seconds = {
      {"twice", {10, 9}}, {"little", {10, 9.95}}, {"enough", {10, 9.85}}, {"slower", {10, 11}}, {"alone", {7}}};
  BestFile best;
  FakeTrials trials;
  for (const auto& [id, of] : seconds) {
    best.tasks.push_back(Task(id, of.size()));
    trials.tasks["work of " + id] = id;
  }
  best.tasks.push_back(Task("absent", 2));
  trials.run = [&](const BestFile& choice) {
    std::vector<Layer> layers;
    for (const BestEntry& task : choice.tasks) {
      if (task.id == "absent") continue;
      const Layer layer{task.id, task.workload, seconds.at(task.id)[task.config->index]};
      layers.push_back(layer);
      if (task.id == "twice") layers.push_back(layer);
    }
    return Timed(layers);
  };
  graph::Graph graph;
  InNetwork in_network;
  ASSERT_TRUE(ChooseFinalists({graph, &trials, {}}, 2, &best, &in_network).ok());
  EXPECT_EQ(trials.built.size(), 2u);
  EXPECT_EQ(trials.layers_asked, std::vector<bool>{true});
  EXPECT_EQ(in_network.alone_seconds, 2 * 10 + 10 + 10 + 10 + 7);
  for (size_t i = 0; i < best.tasks.size(); ++i) {
    const BestEntry& task = best.tasks[i];
    SCOPED_TRACE(task.id);
    EXPECT_EQ(Chosen(best, i), task.id == "twice" || task.id == "enough" ? 1u : 0u);
    EXPECT_EQ(task.median, task.finalists[Chosen(best, i)].median);
    for (size_t k = 0; k < task.finalists.size(); ++k) {
      const double layers = task.id == "twice" ? 2 : 1;
      const double want = task.id == "absent" ? 0 : layers * seconds.at(task.id)[k];
      EXPECT_EQ(task.finalists[k].in_network, want) << k;
    }
  }
}

TEST(ChooseFinalists, LargeNetworksHaveFewerOfThem) {
  BestFile best;
  best.tasks.push_back(Task("a", 4));
  FakeTrials trials;
  trials.params_bytes = int64_t{1} << 30;  // three of these are 3 GiB
  trials.tasks["work of a"] = "a";
  // Each is faster than the one before it.
  trials.run = [](const BestFile& choice) {
    return Timed({{"a", "work of a", 10.0 - static_cast<double>(choice.tasks[0].config->index)}});
  };
  graph::Graph graph;
  InNetwork in_network;
  ASSERT_TRUE(ChooseFinalists({graph, &trials, {}}, 4, &best, &in_network).ok());
  EXPECT_EQ(trials.built.size(), 3u);
  EXPECT_EQ(Chosen(best, 0), 2u);
  EXPECT_EQ(best.tasks[0].finalists[3].in_network, 0);
}

graph::Node NodeOf(const std::string& name, const std::string& op, const std::string& input) {
  graph::Node node{name, {}, {input}, {}};
  node.workload.op = op;
  return node;
}

// The first node replaced by each remaining alternative.
std::vector<std::string> Kept(const BestFile& best) {
  std::vector<std::string> names;
  for (const pipeline::Alternative& a : best.alternatives) names.push_back(a.replaces[0]);
  return names;
}

TEST(ChooseAlternatives, ThoseOfAKernelStandOrFallTogetherByTheirLayers) {
  graph::Graph graph;
  BestFile best;
  const std::map<std::string, std::string> kernels = {
      {"a", "gains"}, {"b", "gains"}, {"c", "loses"}, {"d", "loses"}, {"e", "neither"}};  // by place
  for (const auto& [place, kernel] : kernels) {
    graph.nodes.push_back(NodeOf(place + "1", "conv2d", "data"));
    graph.nodes.push_back(NodeOf(place + "2", "max_pool2d", place + "1"));
    best.alternatives.push_back({{place + "1", place + "2"}, {{place + "2", kernel, {"data"}}}});
  }
  FakeTrials trials;
  trials.run = [&](const BestFile& choice) {
    std::vector<Layer> layers;
    if (!choice.alternatives.empty()) {
      layers = {{"a2", "", 3}, {"b2", "", 4.5}, {"c2", "", 5}, {"d2", "", 3.5}, {"e2", "", 4}};
    } else {
      for (const graph::Node& node : graph.nodes) layers.push_back({node.name, "", 2});
    }
    return Timed(layers);
  };
  ASSERT_TRUE(ChooseAlternatives({graph, &trials, {}}, &best).ok());
  EXPECT_EQ(trials.layers_asked, std::vector<bool>{true});
  EXPECT_EQ(Kept(best), (std::vector<std::string>{"a1", "b1"}));  // 7.5 for 8; 8.5 for 8; 4 for 4
}

TEST(ChooseAlternatives, OneKernelIsLeftToWholeRuns) {
  graph::Graph graph;
  BestFile best;
  best.alternatives.push_back({{"a1", "a2"}, {{"a2", "one", {"data"}}}});
  FakeTrials trials;
  ASSERT_TRUE(ChooseAlternatives({graph, &trials, {}}, &best).ok());
  EXPECT_EQ(best.alternatives.size(), 1u);
  EXPECT_TRUE(trials.built.empty());
  EXPECT_TRUE(trials.layers_asked.empty());
}

// A transform is part of the cost of its users: of an alternative that includes it, or of the nodes that an alternative
// without it replaces.
TEST(ChooseAlternatives, TransformsAreCounted) {
  graph::Graph graph;
  graph.nodes.push_back(NodeOf("plain", "conv2d", "data"));
  graph.nodes.push_back(NodeOf("blocks", "block", "more"));
  graph.nodes.push_back(NodeOf("blocked", "conv2d", "blocks"));
  struct Row {
    double added;  // seconds of the block in the first alternative
    bool shared;   // another node also needs `blocks`
    std::vector<std::string> kept;
  };
  // `plain` takes 4, and 2 with blocks; `blocked` takes 3 and its blocks 2, 4 without.
  const std::vector<Row> rows = {{1, false, {"plain", "blocked"}}, {3, false, {"blocked"}}, {1, true, {"plain"}}};
  for (const Row& row : rows) {
    BestFile best;
    best.alternatives.push_back(
        {{"plain"}, {{"data.blocks", "block", {"data"}}, {"plain", "reads blocks", {"data.blocks"}}}});
    best.alternatives.push_back({{"blocked"}, {{"blocked", "reads it plain", {"more"}}}});
    FakeTrials trials;
    trials.run = [&](const BestFile& choice) {
      std::vector<Layer> layers = {{"plain", "", 4}, {"blocks", "", 2}, {"blocked", "", 3}};
      if (!choice.alternatives.empty()) {
        layers = {{"data.blocks", "", row.added}, {"plain", "", 2}, {"blocked", "", 4}};
        if (row.shared) layers.push_back({"blocks", "", 2});
      }
      return Timed(layers);
    };
    ASSERT_TRUE(ChooseAlternatives({graph, &trials, {}}, &best).ok());
    EXPECT_EQ(Kept(best), row.kept) << row.added << " " << row.shared;
  }
}

// The change of a run of 100 seconds without each, and additionally without several at once.
struct Without {
  double finalists = 0, alternatives = 0, slices = 0, in_place = 0, several = 0;
};

// What remains of the choices in the network: finalists (f), alternatives (a), slices (s) and sums in place (i).
struct Whole {
  std::string left;
  InNetwork in_network;
  size_t compared = 0;  // calls
};

Whole ChooseBy(const Without& without) {
  BestFile best;
  best.tasks.push_back(Task("a", 2));
  best.tasks[0].Choose(best.tasks[0].finalists[1]);
  best.alternatives.push_back({{"a1", "a2"}, {{"a2", "one", {"data"}}}});
  FakeTrials trials;
  trials.slices = trials.in_place = 1;
  trials.run = [&](const BestFile& choice) {
    int missing = 0;
    double seconds = 100;
    const auto add = [&](bool gone, double more) {
      if (gone) ++missing, seconds += more;
    };
    add(Chosen(choice, 0) == 0, without.finalists);
    add(choice.alternatives.empty(), without.alternatives);
    add(!choice.share.slices, without.slices);
    add(!choice.share.in_place, without.in_place);
    if (missing > 1) seconds += without.several;
    return Timed({{"all", "", seconds}});
  };
  graph::Graph graph;
  Whole whole;
  EXPECT_TRUE(ChooseWhole({graph, &trials, {}}, true, &best, &whole.in_network).ok());
  if (Chosen(best, 0) == 1) whole.left += "f";
  if (!best.alternatives.empty()) whole.left += "a";
  if (best.share.slices) whole.left += "s";
  if (best.share.in_place) whole.left += "i";
  EXPECT_EQ(whole.in_network.kept, Chosen(best, 0) == 1);
  EXPECT_EQ(whole.in_network.compared.size(), 3u);
  for (const pipeline::ComparedChoice& c : whole.in_network.compared) {
    EXPECT_EQ(c.kept, whole.left.find(c.what[0]) != std::string::npos) << c.what;
    EXPECT_EQ(c.with_seconds, 100);
  }
  for (const bool layers : trials.layers_asked) EXPECT_FALSE(layers);
  whole.compared = trials.layers_asked.size();
  return whole;
}

TEST(ChooseWhole, WhatIsSlowerWithoutStays) {
  EXPECT_EQ(ChooseBy({}).left, "fasi");
  const Whole whole = ChooseBy({.finalists = 5, .alternatives = 4, .slices = 3, .in_place = 2});
  EXPECT_EQ(whole.left, "fasi");
  EXPECT_EQ(whole.compared, 1u);
  EXPECT_EQ(whole.in_network.alone_seconds, 105);
  EXPECT_EQ(whole.in_network.confirmed_seconds, 100);
  ASSERT_EQ(whole.in_network.compared.size(), 3u);
  EXPECT_EQ(whole.in_network.compared[0].what, "alternatives");
  EXPECT_EQ(whole.in_network.compared[0].without_seconds, 104);
}

TEST(ChooseWhole, WhatIsFasterWithoutGoes) {
  const Whole alone = ChooseBy({.finalists = -0.5});
  EXPECT_EQ(alone.left, "asi");
  EXPECT_EQ(alone.in_network.alone_seconds, 99.5);
  EXPECT_EQ(ChooseBy({.alternatives = -0.5}).left, "fsi");
  // Sharing memory costs nothing, so removing it must gain at least 1 %.
  EXPECT_EQ(ChooseBy({.slices = -0.5}).left, "fasi");
  EXPECT_EQ(ChooseBy({.slices = -1.5}).left, "fai");
  EXPECT_EQ(ChooseBy({.in_place = -0.5}).left, "fasi");
  EXPECT_EQ(ChooseBy({.in_place = -1.5}).left, "fas");
}

TEST(ChooseWhole, SeveralGoTogetherIfThatBeatsTheBestOfThem) {
  const Whole both = ChooseBy({.alternatives = -3, .slices = -2});
  EXPECT_EQ(both.left, "fi");  // 95 against 97
  EXPECT_EQ(both.compared, 2u);
  EXPECT_EQ(ChooseBy({.alternatives = -3, .slices = -2, .several = 4}).left, "fsi");  // 99 against 97
  EXPECT_EQ(ChooseBy({.alternatives = -3, .slices = -5, .several = 4}).left, "fai");  // 96 against 95
  EXPECT_EQ(ChooseBy({.finalists = -4, .in_place = -2, .several = 3}).left, "asi");   // 97 against 96
}

TEST(ChooseWhole, NothingIsTimedWhereNothingCouldChange) {
  BestFile best;
  best.tasks.push_back(Task("a", 1));
  FakeTrials trials;
  graph::Graph graph;
  InNetwork in_network;
  ASSERT_TRUE(ChooseWhole({graph, &trials, {}}, false, &best, &in_network).ok());
  EXPECT_TRUE(trials.layers_asked.empty());
  EXPECT_EQ(in_network.runs, 0);
}

}  // namespace
}  // namespace hone::command
