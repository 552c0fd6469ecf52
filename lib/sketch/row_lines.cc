#include "sketch/row_lines.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace hone::sketch {
namespace {

using AxisNames = std::vector<std::string>;

AxisNames operator+(AxisNames a, const AxisNames& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Names of new axes and stages are the old ones with a suffix.
class RowLines {
 public:
  RowLines(const RowStages& rows, Sketch* sketch) : p_(rows), sketch_(*sketch) {}

  void Add() {
    const RowStage& out = p_.stages[0];
    When("elements", "again");
    for (const RowStage& stage : p_.stages) {
      if (stage.full && stage.name != out.name) Say("inline {}", stage.name);
    }
    const bool choice = Offers("order", "parts");
    choice ? When("order", "together") : Always();
    Together();
    When("order", "parts");
    if (choice) Parts();
    for (const std::string shared : {"rows", "columns"}) {
      if (!Offers("threads", shared)) continue;
      When("threads", shared);
      Say("parallel {} {}", out.name, shared == "rows" ? Row(out.kept) : out.kept.back() + ".o");
    }
  }

 private:
  bool Offers(const std::string& decision, const std::string& value) const {
    for (const search::Knob& knob : sketch_.decisions) {
      for (size_t i = 0; knob.name() == decision && i < knob.size(); ++i) {
        if (knob.value(i).Text() == value) return true;
      }
    }
    return false;
  }
  // The condition of the following lines.
  void When(const std::string& decision, const std::string& value) { conditions_ = {{decision, value}}; }
  void Always() { conditions_.clear(); }

  template <typename... Args>
  void Say(fmt::format_string<Args...> step, Args&&... args) {
    sketch_.lines.push_back({conditions_, fmt::format(step, std::forward<Args>(args)...)});
  }
  void Order(const std::string& stage, AxisNames loops) {
    std::erase(loops, "");
    if (loops.size() > 1) Say("reorder {} {}", stage, Join(loops, " "));
  }

  // The loop over rows, after Home(); empty if there is none.
  std::string Row(AxisNames kept) const {
    if (p_.across) kept.pop_back();
    return kept.size() > 1 ? "row" : kept.empty() ? "" : kept[0];
  }

  // Loops of a stage at root that stores its values; returns the one in which its inputs are computed.
  std::string Home(const RowStage& stage) {
    const std::string &name = stage.name, column = stage.kept.back();
    const AxisNames elements = stage.full ? stage.others : AxisNames();
    AxisNames kept = stage.kept;
    Order(name, kept + elements);
    if (p_.across) kept.pop_back();
    if (kept.size() > 1) Say("fuse {} {} -> row", name, Join(kept, " "));
    if (p_.across) {
      Say("split {0} {1} [{{vectors}},{2}] -> {1}.o {1}.v {1}.i", name, column, p_.lanes);
      Order(name, AxisNames{Row(stage.kept), column + ".o"} + elements + AxisNames{column + ".v", column + ".i"});
      Say("unroll {} {}.v", name, column);
      Say("vectorize {} {}.i", name, column);
      return column + ".o";
    }
    if (stage.full) Vectors(name, elements.back());
    return Row(stage.kept);
  }

  void Vectors(const std::string& name, const std::string& axis) {
    Say("split {0} {1} [{2}] -> {1}.o {1}.i", name, axis, p_.lanes);
    Say("vectorize {} {}.i", name, axis);
  }

  // Computes a stage for one row, or one tile of columns, of `home`.
  void Inside(const RowStage& stage, const std::string& home, const std::string& at) {
    const std::string& name = stage.name;
    const std::string last = p_.across ? stage.kept.back() : stage.others.empty() ? "" : stage.others.back();
    AxisNames loops = stage.kept + stage.others;
    if (p_.across) {
      Vectors(name, last);
      std::erase(loops, last);
      Order(name, loops + AxisNames{last + ".o", last + ".i"});
      Say("unroll {} {}.o", name, last);
    } else if (stage.full) {
      Order(name, loops);
      Vectors(name, last);
    } else if (stage.reduction && p_.lanes > 1) {
      return Halve(stage, home, at);
    }
    Say("compute_at {} {} {}", name, home, at);
    if (!stage.full) Say("set_scope {} register", name);
  }

  // A reduction along the last axis: lanes, a quarter of them, one.
  void Halve(const RowStage& stage, const std::string& home, const std::string& at) {
    struct Level {
      std::string factor, suffix;
    };
    std::vector<Level> levels = {{"{width}", "wide"}, {fmt::format("{}", p_.lanes), "lanes"}};
    if (p_.lanes > 4) levels.push_back({fmt::format("{}", p_.lanes / 4), "few"});
    const std::string& name = stage.name;
    std::string axis = stage.others.back();
    AxisNames outer = stage.others;
    outer.pop_back();
    AxisNames made;
    for (const Level& level : levels) {
      const std::string part = fmt::format("{}.{}", name, level.suffix),
                        lane = fmt::format("{}.{}", stage.others.back(), level.suffix);
      const std::string rest = lane + ".o";
      Say("split {} {} [{}] -> {} {}", name, axis, level.factor, rest, lane);
      Say("rfactor {} {} -> {}", name, lane, part);
      Order(part, stage.kept + outer + AxisNames{rest, lane});
      Say("vectorize {} {}", part, lane);
      if (!made.empty()) Say("unroll {} {}", part, rest);
      made.push_back(part);
      outer.clear();
      axis = lane;
    }
    Say("unroll {} {}", name, axis);
    made.push_back(name);
    for (size_t i = made.size(); i-- > 0;) {
      Say("compute_at {} {} {}", made[i], home, at);
      Say("set_scope {} register", made[i]);
    }
  }

  void Together() {
    RowStage home = p_.stages[0];
    std::vector<RowStage> inside(p_.stages.begin() + 1, p_.stages.end());
    if (home.reduction) {
      inside.insert(inside.begin(), home);
      Say("cache_write {0} register -> {0}.row", home.name);
      inside[0].name += ".row";
      home.others.clear();
    }
    const std::string at = Home(home);
    const std::vector<Condition> conditions = conditions_;
    for (const RowStage& stage : inside) {
      if (stage.full) When("elements", "stored");
      Inside(stage, home.name, at);
      conditions_ = conditions;
    }
  }

  void Parts() {
    for (const RowStage& stage : p_.stages) {
      if (!stage.reduction) continue;
      const std::string& name = stage.name;
      const std::string first = stage.others[0];
      Say("split {0} {1} [{2}] -> {1}.task {1}.part", name, first, p_.Part());
      Say("rfactor {0} {1}.task -> {0}.task", name, first);
      Say("cache_write {0}.task register -> {0}.row", name);
      RowStage home{name + ".task", false, false, AxisNames{first + ".task"} + stage.kept, {}, 0, 0};
      RowStage sums = stage;
      sums.name = name + ".row";
      sums.kept = home.kept;
      sums.others[0] = first + ".part";
      const std::string at = Home(home);
      Say("parallel {} {}", home.name, Row(home.kept));
      Inside(sums, home.name, at);
      if (p_.across && &stage != &p_.stages[0]) Vectors(name, stage.kept.back());
    }
    const RowStage& out = p_.stages[0];
    Home(out);
    if (!out.full) return;
    AxisNames loops = {p_.across ? out.others[0] : out.others.back() + ".o", Row(out.kept)};
    Order(out.name, loops);
    Say("parallel {} {}", out.name, loops[0]);
  }

  const RowStages& p_;
  Sketch& sketch_;
  std::vector<Condition> conditions_;
};

}  // namespace

void AddRowLines(const RowStages& rows, Sketch* sketch) { RowLines(rows, sketch).Add(); }

}  // namespace hone::sketch
