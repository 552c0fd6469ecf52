// Shared parts of the rounds of faults: their number and seed, the undisturbed chain, and one disturbance of a running
// Ninja.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "chain_folder.h"

namespace hone {

int FaultRounds();     // HONE_FAULT_ROUNDS, default 20
uint64_t FaultSeed();  // HONE_FAULT_SEED, default 1

inline constexpr double kPatience = 600;  // seconds until a hang counts as a failure: these tests do not measure speed

// Parts of command lines: the program and its first argument.
extern const std::string kTuner, kCompiler, kMeasurer;

struct Blow {
  std::string victim;  // empty: Ninja; else a part of its command line
  int signal = 0;
  std::string Text() const;
};

class FaultFolder : public ChainFolder {
 protected:
  // The outcomes of a task, one per line: index, state, error, and with `times` the median.
  std::vector<std::string> Outcomes(const std::string& task, bool times) const;
  std::map<std::string, std::vector<std::string>> AllOutcomes(bool times) const;

  // Runs the chain of network one undisturbed, saves its results, and removes everything except the extracted files.
  void Undisturbed(bool times);
  void RemoveResults();

  // Starts Ninja, waits a random time of up to `seconds`, strikes, and waits for Ninja to end. Returns whether there
  // was a victim. Does not touch tools that outlive Ninja.
  bool Disturb(const Blow& blow, double seconds, Rng* rng);

  // As above, in the order of their candidates, without ordinals and pruned trials: a run that lost trials must end
  // with the same.
  std::map<std::string, std::vector<std::string>> Sets(
      const std::map<std::string, std::vector<std::string>>& all) const;
  // From now on hone-tune has simulated times, and the faults of fault_shim.c set by its variables
  // ("HONE_SHIM_CLOCK=3").
  void Shim(uint64_t times_seed, const std::string& variables);
  // Changes bin/hone-tune to run the lines of shell `before` and to add flags.
  void ChangeTuner(const std::string& before, const std::string& flags);
  // Runs the chain from its extraction on, with each of hone-extract, hone-pick-best and hone-confirm in turn under the
  // faults `variables`. It may fail (with `always`, it must), with that tool's message, and must leave no incomplete
  // file. The tuner's times are those of InventTimes(times_seed). Returns the number of failures.
  int StrikeTheOthers(uint64_t times_seed, const std::string& variables, bool always);

  // Expects that the records are a prefix of Undisturbed()'s, and have no fewer trials than last time.
  void ExpectNothingLost();
  // Runs the chain to its end and expects Undisturbed()'s results: the same trials and choices, and whole records. With
  // `reordered`: in any order.
  void ExpectTheSameInTheEnd(bool reordered = false);

  std::string ShimLine(const std::string& variables) const;  // a line of shell

  static constexpr const char* kGoal = "best-one-cpu";
  bool times_ = false;
  std::map<std::string, std::vector<std::string>> expected_;
  std::string choices_;
  std::map<std::string, size_t> kept_;
  int halfway_ = 0;  // how often ExpectNothingLost() saw a task that was started but not finished
};

}  // namespace hone
