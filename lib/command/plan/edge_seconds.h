// Estimates of the edges of a manifest: their last times, or a guess.
#pragma once

#include <map>
#include <string>

#include "command/plan/ninja_view.h"

namespace hone::command {

class EdgeSeconds {
 public:
  // Reads the progress files of WORK; what cannot be read is not known. Both must live as long as this.
  EdgeSeconds(const std::string& work, const NinjaView& view);

  // Seconds. Of tuning: the trials that it still needs, by what one took there, or in the middle of all tasks. Of an
  // edge that never ran: a typical value for a typical network on a CPU.
  double Of(const pipeline::NinjaBuild& build) const;

 private:
  const std::string& work_;
  const NinjaView& view_;
  std::map<const pipeline::NinjaBuild*, double> trial_seconds_;  // of tuning; 0: it never ran
  double usual_trial_seconds_;
};

}  // namespace hone::command
