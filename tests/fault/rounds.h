// What the rounds of faults share: how many, from which seed, the chain that nothing disturbed, and one disturbance of
// a running Ninja.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "chain_folder.h"

namespace hone {

int FaultRounds();     // HONE_FAULT_ROUNDS, else 20
uint64_t FaultSeed();  // HONE_FAULT_SEED, else 1

inline constexpr double kPatience = 600;  // seconds until what does not end is a failure: nothing here is about speed

// Part of a command line: the program and the word after it.
extern const std::string kTuner, kCompiler, kMeasurer;

struct Blow {
  std::string victim;  // empty: Ninja, else a part of its command line
  int signal = 0;
  std::string Text() const;
};

class FaultFolder : public ChainFolder {
 protected:
  // The outcomes of a task, a line each: index, state, error, and with `times` the median.
  std::vector<std::string> Outcomes(const std::string& task, bool times) const;
  std::map<std::string, std::vector<std::string>> AllOutcomes(bool times) const;

  // Runs the chain of network one without disturbance, keeps what came of it, and removes all but what was extracted.
  void Undisturbed(bool times);
  void RemoveResults();

  // Starts Ninja, waits for a random while of at most `seconds`, strikes, and waits for Ninja to end. True if a victim
  // was there. Tools that outlive Ninja are left alone.
  bool Disturb(const Blow& blow, double seconds, Rng* rng);

  // As above, in the order of their candidates, without ordinals and without what was pruned: what a run that lost
  // trials ends with, too.
  std::map<std::string, std::vector<std::string>> Sets(
      const std::map<std::string, std::vector<std::string>>& all) const;
  // hone-tune from now on: invented times, and the faults of fault_shim.c by its variables ("HONE_SHIM_CLOCK=3").
  void Shim(uint64_t times_seed, const std::string& variables);
  // bin/hone-tune as it is, after the lines of shell `before` and with more flags.
  void ChangeTuner(const std::string& before, const std::string& flags);
  // The chain from its extraction on with each of hone-extract, hone-pick-best and hone-confirm in turn under the
  // faults `variables`: it fails, at any rate with `always`, in that tool's words, and leaves no file that is not
  // whole. The tuner's times are those of InventTimes(times_seed). Returns how often something failed.
  int StrikeTheOthers(uint64_t times_seed, const std::string& variables, bool always);

  // Expects that what is recorded is the beginning of what Undisturbed() saw, and no less than last time.
  void ExpectNothingLost();
  // Runs the chain to its end and expects what Undisturbed() saw: the same trials, the same choices, whole records.
  // With `reordered`: in any order.
  void ExpectTheSameInTheEnd(bool reordered = false);

  std::string ShimLine(const std::string& variables) const;  // of shell

  static constexpr const char* kGoal = "best-one-cpu";
  bool times_ = false;
  std::map<std::string, std::vector<std::string>> expected_;
  std::string choices_;
  std::map<std::string, size_t> kept_;
  int halfway_ = 0;  // how often ExpectNothingLost() saw a task begun and not done
};

}  // namespace hone
