// Rules of plugins (plugin/plugin.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sketch/sketch.h"

namespace hone::sketch {

// A rule for computations of any operator. HONE_SKETCH_RULE sets the name, which is that of its sketches too.
struct UserRule {
  std::string name;                      // stored in records: never changes
  int version = 1;                       // raise it when the decisions, or what a point means, change
  std::string_view family = kCpuFamily;  // of its targets (target/kind.h)
  // Nothing if the rule does not apply. The sketch may have rules and a cost, of which only the first number counts.
  DeriveFunction derive = nullptr;
};

// Returns kInvalid for a rule without a function, and for a name that another rule has.
Status CheckRules(const std::string& file, const std::vector<UserRule>& given);
// Makes the rules of the plugin `file` known, behind all others in Rules. Do not call it while other threads use rules.
// REQUIRES: CheckRules
void RegisterRules(const std::string& file, const std::vector<UserRule>& given);

// The sketch of a plugin's rule; nothing if the rule does not apply. Returns kInvalid if the rule throws, if
// ParseSketch refuses the sketch's text, or if it has more than 10,000 steps. Exceptions of its `rules` become
// rejections.
Result<std::optional<Sketch>> DeriveUser(const DerivationRule& rule, const te::Tensor& output,
                                         const std::vector<std::string>& constants, const Target& target);

}  // namespace hone::sketch
