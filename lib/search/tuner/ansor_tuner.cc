#include "search/tuner/ansor_tuner.h"

#include <algorithm>
#include <numeric>

#include "base/log.h"
#include "search/feature/store_features.h"
#include "search/tuner/anneal.h"

namespace hone::search {
namespace {

constexpr int kTriesAMutation = 8;
constexpr int kTriesAnItem = 4;  // for a child, on average

enum KnobRole { kSize, kUnroll, kPlace, kThreads, kRoles };

// Tells from a knob's kind and name which part of the schedule it decides.
KnobRole RoleOf(const Knob& knob) {
  if (knob.name().find("unroll") != std::string::npos) return kUnroll;
  if (knob.name() == "threads" || knob.kind() == KnobKind::kAnnotate) return kThreads;
  const bool numbers = knob.size() > 0 && !knob.value(0).numbers.empty();
  return numbers && knob.kind() != KnobKind::kReorder ? kSize : kPlace;
}

// REQUIRES: the last sum is above 0.
size_t SpinWheel(const std::vector<double>& sums, Rng* rng) {
  auto at = std::upper_bound(sums.begin(), sums.end(), rng->UniformDouble() * sums.back());
  // If rounding leaves nothing: the last that has a share.
  if (at == sums.end()) at = std::lower_bound(sums.begin(), sums.end(), sums.back());
  return static_cast<size_t>(at - sums.begin());
}

// Adds the rows of a point as a pack.
void AddPack(const std::vector<float>& stores, uint32_t pack, FitData* data) {
  data->rows.values.insert(data->rows.values.end(), stores.begin(), stores.end());
  data->group.resize(data->rows.rows(), pack);
}

}  // namespace

AnsorTuner::AnsorTuner(const TaskSpace& space, uint64_t seed, const TunerContext& context, const AnsorOptions& options)
    : PlanTuner(options.round),
      space_(space),
      seed_(seed),
      context_(context),
      options_(options),
      points_(space),
      features_(MakeFeatureRows(FeatureKind::kStores, space_, context_)) {}

std::vector<PointIndex> AnsorTuner::Plan(int64_t round, const std::vector<Outcome>& history) {
  Rng rng(Mix64(seed_ ^ Mix64(static_cast<uint64_t>(round))));
  const IndexSet known = IndicesOf(history);
  const auto size = static_cast<size_t>(options_.round);
  const auto random = static_cast<size_t>(options_.random_share * options_.round);
  std::vector<PointIndex> plan;
  const std::unique_ptr<CostModel> model = Learn(history);
  if (model != nullptr) {
    std::vector<PointIndex> population = points_.DrawNew(static_cast<size_t>(options_.population), {}, {}, &rng);
    const std::vector<float> shares = SpeedShares(history);
    std::vector<size_t> fastest;
    for (size_t i = 0; i < history.size(); ++i) {
      if (shares[i] > 0 && points_.Legal(history[i].config.index)) fastest.push_back(i);
    }
    std::ranges::stable_sort(fastest, [&](size_t a, size_t b) { return shares[a] > shares[b]; });
    fastest.resize(std::min(fastest.size(), static_cast<size_t>(options_.measured_share * options_.population)));
    for (const size_t i : fastest) population.push_back(history[i].config.index);
    Scores scores;
    std::vector<PointIndex> seen;
    for (int generation = 0; !population.empty(); ++generation) {
      Score(*model, population, &scores);
      std::erase_if(population, [&](PointIndex index) { return !scores.at(index); });
      seen.insert(seen.end(), population.begin(), population.end());
      if (generation == options_.generations) break;
      population = NextGeneration(population, scores, &rng);
    }
    const auto score = [&scores](const std::vector<PointIndex>& indices) {
      std::vector<float> of;
      for (const PointIndex index : indices) of.push_back(*scores.at(index));
      return of;
    };
    plan = BestOf(seen, score, size - random, known);
  }
  points_.FillUp(size, known, &rng, &plan);
  return plan;
}

// Lowering a donor's point takes as long as one of the space, so only some are.
std::vector<std::pair<std::vector<float>, float>> AnsorTuner::DonorRows() const {
  constexpr size_t kMostRows = 1024;
  std::vector<std::pair<std::vector<float>, float>> rows;
  for (size_t d = 0; d < context_.donors.size(); ++d) {
    const Donor& donor = context_.donors[d];
    const std::vector<float> shares = SpeedShares(donor.outcomes);
    const size_t until = rows.size() + (kMostRows - rows.size()) / (context_.donors.size() - d);
    for (size_t i = 0; i < shares.size() && rows.size() < until; ++i) {
      if (shares[i] > 0) rows.emplace_back(features_->RowOfDonor(donor, donor.outcomes[i].config), shares[i]);
    }
  }
  return rows;
}

std::unique_ptr<CostModel> AnsorTuner::Learn(const std::vector<Outcome>& history) {
  FitData data;
  data.rows.columns = kStoreColumns;
  uint32_t pack = 0;
  const auto add = [&](const std::vector<float>& stores, float share) {
    AddPack(stores, pack++, &data);
    data.labels.resize(data.rows.rows(), share);
  };
  if (!donors_) donors_ = DonorRows();
  for (const auto& [stores, share] : *donors_) add(stores, share);
  const std::vector<float> shares = SpeedShares(history);
  std::vector<PointIndex> indices;
  std::vector<float> labels;
  for (size_t i = 0; i < history.size(); ++i) {
    if (shares[i] == 0 || history[i].config.index >= space_.size()) continue;  // failures have no weight
    indices.push_back(history[i].config.index);
    labels.push_back(shares[i]);
  }
  const std::vector<std::vector<float>> rows = features_->Rows(indices);
  for (size_t i = 0; i < rows.size(); ++i) add(rows[i], labels[i]);
  if (data.labels.empty()) return nullptr;
  auto model = MakeXgbModel(options_.model);
  Status learnt = model.ok() ? (*model)->Fit(data) : model.status();
  if (learnt.ok()) return std::move(*model);
  LogWarning("the model could not learn, so that points are random: " + learnt.message());
  return nullptr;
}

void AnsorTuner::Score(const CostModel& model, const std::vector<PointIndex>& points, Scores* scores) {
  std::vector<PointIndex> fresh;
  for (const PointIndex index : points) {
    if (scores->emplace(index, std::nullopt).second) fresh.push_back(index);
  }
  const std::vector<std::vector<float>> rows = features_->Rows(fresh);
  FitData packs;
  packs.rows.columns = kStoreColumns;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (rows[i].empty()) continue;
    (*scores)[fresh[i]] = 0;
    AddPack(rows[i], static_cast<uint32_t>(i), &packs);
  }
  const auto predicted = model.Predict(packs.rows);
  if (!predicted.ok()) return;
  for (size_t r = 0; r < predicted->size(); ++r) *(*scores)[fresh[packs.group[r]]] += (*predicted)[r];
}

std::vector<PointIndex> AnsorTuner::NextGeneration(const std::vector<PointIndex>& parents, const Scores& scores,
                                                   Rng* rng) const {
  std::vector<PointIndex> children;
  if (parents.empty()) return children;
  std::vector<double> sums;
  double sum = 0;
  for (const PointIndex parent : parents) {
    sum += std::max(*scores.at(parent), 0.0F);
    sums.push_back(sum);
  }
  if (sum == 0) std::iota(sums.begin(), sums.end(), 1.0);
  const auto size = static_cast<size_t>(options_.population);
  for (size_t tries = 0; children.size() < size && tries < kTriesAnItem * size; ++tries) {
    const PointIndex parent = parents[SpinWheel(sums, rng)];
    if (rng->UniformDouble() >= options_.mutation) {
      children.push_back(parent);
    } else if (const std::optional<PointIndex> child = Mutate(parent, rng)) {
      children.push_back(*child);
    }
  }
  return children;
}

std::optional<PointIndex> AnsorTuner::Mutate(PointIndex index, Rng* rng) const {
  const TaskSpace::Place place = space_.Find(index);
  const Space& own = space_.spaces()[place.space];
  std::vector<size_t> of_role[kRoles];
  for (size_t k = 0; k < own.knobs().size(); ++k) {
    if (own.knobs()[k].size() > 1) of_role[RoleOf(own.knobs()[k])].push_back(k);
  }
  const bool gpu = context_.target.kind->has_device();
  const double weights[kRoles] = {options_.sizes, gpu ? 1 - options_.sizes : options_.unroll, gpu ? 0 : options_.places,
                                  gpu ? 0 : options_.threads};
  std::vector<double> sums;
  double sum = 0;
  for (size_t role = 0; role < kRoles; ++role) sums.push_back(sum += of_role[role].empty() ? 0 : weights[role]);
  if (sum == 0) return std::nullopt;
  const std::vector<size_t>& knobs = of_role[SpinWheel(sums, rng)];
  const size_t knob = knobs[rng->UniformInt(knobs.size())];
  const size_t size = own.knobs()[knob].size();
  const auto from = static_cast<size_t>(place.index / own.radix(knob) % size);
  for (int tries = 0; tries < kTriesAMutation; ++tries) {
    const size_t to = (from + 1 + rng->UniformInt(size - 1)) % size;
    const PointIndex moved = index + (PointIndex{to} - PointIndex{from}) * own.radix(knob);
    if (points_.Legal(moved)) return moved;
  }
  return std::nullopt;
}

}  // namespace hone::search
