// The command line of a tool: its flags, the variables that they set, its commands, and its help.
//
//   Flags flags("hone-pick-best", "Picks the best recorded configuration of each task.");
//   flags.Add("--tasks", &options.tasks, "task list of the network").Required();
//   flags.Add("--finalists", &options.finalists, "configurations of each task").Within(0, 64).ShowDefault();
//   if (const auto code = flags.Parse(argc, argv)) return *code;
//
// CLI11 does the work; only flags.cc includes it, since its headers take seconds to compile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hone {

class Flags {
 public:
  // What a flag sets. A bool takes no value, and a vector takes one each time that the flag is given; a vector without
  // dashes in its name is all the words that no flag takes. The variable keeps its value if the flag is not given.
  using Variable = std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*, std::vector<std::string>*,
                                std::optional<int64_t>*, std::optional<uint64_t>*, std::optional<std::string>*>;

  // A flag that was just added.
  class Flag {
   public:
    Flag& Required();
    Flag& ShowDefault();  // --help shows the variable's present value
    Flag& Hidden();       // not in --help
    Flag& Once();         // of a list: exactly one
    Flag& SplitAt(char separator);
    Flag& Within(int low, int high);
    Flag& Within(double low, double high);
    Flag& OneOf(const std::vector<std::string>& words);
    Flag& Needs(const Flag& other);
    Flag& Excludes(const Flag& other);

   private:
    friend class Flags;
    explicit Flag(CLI::Option* option) : option_(option) {}
    CLI::Option* option_;
  };

  // Messages of this process begin with `tool` from now on.
  Flags(const std::string& tool, const std::string& description);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // `name`: "--flag", or "word" for one that is given without its name, or both: "words,--flag".
  Flag Add(const std::string& name, Variable variable, const std::string& help);

  // A flag of former versions, not in --help: whoever gives it reads `advice`.
  void AddGone(const std::string& name, const std::string& advice);

  // A command of the tool with flags of its own. Lives as long as this.
  Flags& AddCommand(const std::string& name, const std::string& description);
  void RequireCommand();
  bool given() const;  // of a command, after parsing: it is the one in use

  // Sets the variables. Nothing if all is well; else the code to exit with: 0 after --help or --version (printed to
  // stdout), 2 after a mistake, which stderr names in one line that starts with the tool's name and, for an unknown
  // flag or command, suggests a known one (of the command, where it is a command's flag).
  std::optional<int> Parse(int argc, const char* const* argv);

  // The same for a tool that Ninja runs: also --abi, which prints `abi` and exits 0: one line for each version that,
  // when it changes, makes the tool's outputs stale (work/abi/TOOL.txt; doc/internals/manifest.md).
  std::optional<int> Parse(int argc, const char* const* argv, const std::string& abi);

  // The same for a tool whose versions tests may pretend to be others: --pretend-versions (base/version.h), which is
  // not in --help, comes before `abi` is asked.
  std::optional<int> Parse(int argc, const char* const* argv, std::string (*abi)());

  // After parsing: nothing if all these flags were given, else the code to exit with, and a line on stderr. For flags
  // that only one of the tool's modes needs; others are Required().
  std::optional<int> Require(const std::vector<std::string>& flags) const;

 private:
  explicit Flags(CLI::App* command);
  std::unique_ptr<CLI::App> own_;  // null: a command, whose app the tool's owns
  CLI::App* app_;
  std::vector<std::unique_ptr<Flags>> commands_;
};

}  // namespace hone
