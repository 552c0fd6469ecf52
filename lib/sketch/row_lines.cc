#include "sketch/row_lines.h"

#include <utility>

#include "base/text.h"
#include "sketch/lines.h"

namespace hone::sketch {
namespace {

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Names of new axes and stages are the old ones with a suffix.
class RowLines : LineWriter {
 public:
  RowLines(const RowStages& rows, Sketch* sketch) : LineWriter(sketch), p_(rows) {}

  void AddAll() {
    const RowStage& out = p_.stages[0];
    if (When("elements", "again")) {
      for (const RowStage& stage : p_.stages) {
        if (stage.full && stage.name != out.name) Add("inline {}", stage.name);
      }
    }
    Always();
    When("order", "together");
    Together();
    for (const char* shared : {"rows", "columns"}) {
      Always();
      When("order", "together");
      const std::string loop = shared == std::string("rows") ? Row(out.kept) : out.kept.back() + ".o";
      if (When("threads", shared)) Add("parallel {} {}", out.name, loop);
    }
    Always();
    if (When("order", "parts")) Parts();
  }

 private:
  void Order(const std::string& stage, Names loops) {
    std::erase(loops, "");
    if (loops.size() > 1) Add("reorder {} {}", stage, Join(loops, " "));
  }

  // The name of the loop over rows, after Home(); empty without such a loop.
  std::string Row(Names kept) const {
    if (p_.across) kept.pop_back();
    return kept.size() > 1 ? "row" : kept.empty() ? "" : kept[0];
  }

  // Loops of a stage at root that stores its values; returns the one in which its inputs are computed.
  std::string Home(const RowStage& stage) {
    const std::string &name = stage.name, column = stage.kept.back();
    const Names elements = stage.full ? stage.others : Names();
    Names kept = stage.kept;
    Order(name, kept + elements);
    if (p_.across) kept.pop_back();
    if (kept.size() > 1) Add("fuse {} {} -> row", name, Join(kept, " "));
    if (p_.across) {
      Add("split {0} {1} [{{vectors}},{2}] -> {1}.o {1}.v {1}.i", name, column, p_.lanes);
      Order(name, Names{Row(stage.kept), column + ".o"} + elements + Names{column + ".v", column + ".i"});
      Add("unroll {} {}.v", name, column);
      Add("vectorize {} {}.i", name, column);
      return column + ".o";
    }
    if (stage.full) Vectors(name, elements.back());
    return Row(stage.kept);
  }

  void Vectors(const std::string& name, const std::string& axis) {
    Add("split {0} {1} [{2}] -> {1}.o {1}.i", name, axis, p_.lanes);
    Add("vectorize {} {}.i", name, axis);
  }

  // Computes a stage for one row, or one tile of columns, of `home`.
  void Inside(const RowStage& stage, const std::string& home, const std::string& at) {
    const std::string& name = stage.name;
    const std::string last = p_.across ? stage.kept.back() : stage.others.empty() ? "" : stage.others.back();
    Names loops = stage.kept + stage.others;
    if (p_.across) {
      Vectors(name, last);
      std::erase(loops, last);
      Order(name, loops + Names{last + ".o", last + ".i"});
      Add("unroll {} {}.o", name, last);
    } else if (stage.full) {
      Order(name, loops);
      Vectors(name, last);
    } else if (stage.reduction && p_.lanes > 1) {
      return Halve(stage, home, at);
    }
    Add("compute_at {} {} {}", name, home, at);
    if (!stage.full) Add("set_scope {} register", name);
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
    Names outer = stage.others;
    outer.pop_back();
    Names made;
    for (const Level& level : levels) {
      const std::string part = fmt::format("{}.{}", name, level.suffix),
                        lane = fmt::format("{}.{}", stage.others.back(), level.suffix);
      const std::string rest = lane + ".o";
      Add("split {} {} [{}] -> {} {}", name, axis, level.factor, rest, lane);
      Add("rfactor {} {} -> {}", name, lane, part);
      Order(part, stage.kept + outer + Names{rest, lane});
      Add("vectorize {} {}", part, lane);
      if (!made.empty()) Add("unroll {} {}", part, rest);
      made.push_back(part);
      outer.clear();
      axis = lane;
    }
    Add("unroll {} {}", name, axis);
    made.push_back(name);
    for (size_t i = made.size(); i-- > 0;) {
      Add("compute_at {} {} {}", made[i], home, at);
      Add("set_scope {} register", made[i]);
    }
  }

  void Together() {
    RowStage home = p_.stages[0];
    std::vector<RowStage> inside(p_.stages.begin() + 1, p_.stages.end());
    if (home.reduction) {
      inside.insert(inside.begin(), home);
      Add("cache_write {0} register -> {0}.row", home.name);
      inside[0].name += ".row";
      home.others.clear();
    }
    const std::string at = Home(home);
    const std::vector<Condition> conditions = conditions_;
    for (const RowStage& stage : inside) {
      if (!stage.full || When("elements", "stored")) Inside(stage, home.name, at);
      conditions_ = conditions;
    }
  }

  void Parts() {
    for (const RowStage& stage : p_.stages) {
      if (!stage.reduction) continue;
      const std::string& name = stage.name;
      const std::string first = stage.others[0];
      Add("split {0} {1} [{2}] -> {1}.task {1}.part", name, first, p_.Part());
      Add("rfactor {0} {1}.task -> {0}.task", name, first);
      Add("cache_write {0}.task register -> {0}.row", name);
      // Threads share this loop alone: lowering could not cut off the last part's tail in a loop over parts and rows.
      const std::string task = first + ".task";
      RowStage home{name + ".task", false, false, stage.kept, {}, 0, 0};
      RowStage sums = stage;
      sums.name = name + ".row";
      sums.kept = Names{task} + stage.kept;
      sums.others[0] = first + ".part";
      const std::string at = Home(home);
      Add("parallel {} {}", home.name, task);
      Inside(sums, home.name, at);
      if (p_.across && &stage != &p_.stages[0]) Vectors(name, stage.kept.back());
    }
    const RowStage& out = p_.stages[0];
    Home(out);
    if (!out.full) return;
    Names loops = {p_.across ? out.others[0] : out.others.back() + ".o", Row(out.kept)};
    Order(out.name, loops);
    Add("parallel {} {}", out.name, loops[0]);
  }

  const RowStages& p_;
};

}  // namespace

void AddRowLines(const RowStages& rows, Sketch* sketch) { RowLines(rows, sketch).AddAll(); }

}  // namespace hone::sketch
