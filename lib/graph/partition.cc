#include "graph/partition.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

namespace hone::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The choices so far; states share their histories.
struct Past {
  int option = 0;
  std::shared_ptr<const Past> before;
};

// Open options and paid transforms, both ascending.
using Key = std::pair<std::vector<int>, std::vector<int>>;

struct State {
  double seconds = 0;
  std::shared_ptr<const Past> past;
};

class Solver {
 public:
  Solver(const PartitionProblem& problem, size_t max_states)
      : problem_(problem), max_states_(std::max<size_t>(max_states, 1)) {}

  Result<Partition> Run() {
    HONE_RETURN_IF_ERROR(Prepare());
    states_[{}] = {};
    for (int item = 0; item < problem_.items; ++item) {
      Step(item);
      if (states_.empty()) {
        return Status::Invalid("no cover: nothing computes item {} beside the others", item);
      }
      Cut(item + 1);
    }
    // At the end all options are closed and no transform is needed any more, so one state remains.
    const State& end = states_.begin()->second;
    Partition out;
    out.seconds = end.seconds;
    out.exact = dropped_ >= end.seconds;
    out.bound = std::min(dropped_, end.seconds);
    for (const Past* past = end.past.get(); past != nullptr; past = past->before.get()) {
      out.options.push_back(past->option);
    }
    std::reverse(out.options.begin(), out.options.end());
    return out;
  }

 private:
  Status Prepare() {
    first_.resize(static_cast<size_t>(problem_.items));
    last_demand_.assign(problem_.transforms.size(), -1);
    least_.assign(static_cast<size_t>(problem_.items), kInfinity);
    for (size_t o = 0; o < problem_.options.size(); ++o) {
      const PartitionOption& option = problem_.options[o];
      const std::vector<int>& items = option.items;
      if (items.empty() || items.front() < 0 || items.back() >= problem_.items ||
          std::adjacent_find(items.begin(), items.end(), std::greater_equal<>()) != items.end()) {
        return Status::Invalid("option {}: its items are not ascending numbers of items", o);
      }
      for (const int t : option.transforms) {
        if (t < 0 || t >= static_cast<int>(problem_.transforms.size())) {
          return Status::Invalid("option {}: there is no transform {}", o, t);
        }
        last_demand_[static_cast<size_t>(t)] = std::max(last_demand_[static_cast<size_t>(t)], items.front());
      }
      first_[static_cast<size_t>(items.front())].push_back(static_cast<int>(o));
      for (const int item : items) {
        double& least = least_[static_cast<size_t>(item)];
        least = std::min(least, option.seconds / static_cast<double>(items.size()));
      }
    }
    return Status();
  }

  bool Covers(int option, int item) const {
    const std::vector<int>& items = problem_.options[static_cast<size_t>(option)].items;
    return std::binary_search(items.begin(), items.end(), item);
  }

  bool Collides(const std::vector<int>& open, int option) const {
    for (const int item : problem_.options[static_cast<size_t>(option)].items) {
      for (const int other : open) {
        if (Covers(other, item)) return true;
      }
    }
    return false;
  }

  // The part of a state that still matters after `item`.
  Key Behind(const Key& key, int item) const {
    Key out;
    for (const int option : key.first) {
      if (problem_.options[static_cast<size_t>(option)].items.back() > item) out.first.push_back(option);
    }
    for (const int t : key.second) {
      if (last_demand_[static_cast<size_t>(t)] > item) out.second.push_back(t);
    }
    return out;
  }

  void Keep(std::map<Key, State>* to, Key key, State state) const {
    auto [found, added] = to->emplace(std::move(key), state);
    if (!added && state.seconds < found->second.seconds) found->second = std::move(state);
  }

  void Step(int item) {
    std::map<Key, State> next;
    for (const auto& [key, state] : states_) {
      if (std::any_of(key.first.begin(), key.first.end(), [&](int option) { return Covers(option, item); })) {
        Keep(&next, Behind(key, item), state);
        continue;
      }
      for (const int o : first_[static_cast<size_t>(item)]) {
        if (Collides(key.first, o)) continue;
        const PartitionOption& option = problem_.options[static_cast<size_t>(o)];
        Key with = key;
        with.first.insert(std::upper_bound(with.first.begin(), with.first.end(), o), o);
        double seconds = state.seconds + option.seconds;
        for (const int t : option.transforms) {
          auto at = std::lower_bound(with.second.begin(), with.second.end(), t);
          if (at != with.second.end() && *at == t) continue;
          with.second.insert(at, t);
          seconds += problem_.transforms[static_cast<size_t>(t)];
        }
        Keep(&next, Behind(with, item), {seconds, std::make_shared<const Past>(Past{o, state.past})});
      }
    }
    states_ = std::move(next);
  }

  // A lower bound of the cost of the items from `item` on that no open option covers: each item gets its share of an
  // option.
  double Rest(const Key& key, int item) const {
    double rest = 0;
    for (int i = item; i < problem_.items; ++i) {
      const bool open = std::any_of(key.first.begin(), key.first.end(), [&](int option) { return Covers(option, i); });
      if (!open) rest += least_[static_cast<size_t>(i)];
    }
    return rest;
  }

  void Cut(int item) {
    if (states_.size() <= max_states_) return;
    std::vector<std::pair<double, Key>> order;
    for (const auto& [key, state] : states_) order.emplace_back(state.seconds + Rest(key, item), key);
    std::sort(order.begin(), order.end());
    dropped_ = std::min(dropped_, order[max_states_].first);
    for (size_t i = max_states_; i < order.size(); ++i) states_.erase(order[i].second);
  }

  const PartitionProblem& problem_;
  const size_t max_states_;
  std::vector<std::vector<int>> first_;  // options by their first item
  std::vector<int> last_demand_;         // for each transform: the first item of the last option that needs it
  std::vector<double> least_;            // for each item
  std::map<Key, State> states_;
  double dropped_ = kInfinity;
};

}  // namespace

Result<Partition> SolvePartition(const PartitionProblem& problem, size_t max_states) {
  return Solver(problem, max_states).Run();
}

}  // namespace hone::graph
