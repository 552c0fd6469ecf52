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
  // The variable that a flag sets. A bool flag takes no value; a vector flag takes one value each time it is given. A
  // vector whose name has no dashes takes all remaining words. If the flag is not given, the variable keeps its value.
  using Variable = std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*, std::vector<std::string>*,
                                std::optional<int64_t>*, std::optional<uint64_t>*, std::optional<std::string>*>;

  // A flag that was just added.
  class Flag {
   public:
    Flag& Required();
    Flag& ShowDefault();  // --help shows the variable's current value
    Flag& Hidden();       // leaves it out of --help
    Flag& Once();         // for a list: allows exactly one value
    Flag& SplitAt(char separator);
    Flag& Within(double low, double high);
    Flag& OneOf(const std::vector<std::string>& words);
    Flag& Needs(const Flag& other);
    Flag& Excludes(const Flag& other);

   private:
    friend class Flags;
    explicit Flag(CLI::Option* option) : option_(option) {}
    Flag& Also(const CLI::Option*) { return *this; }  // for chains
    CLI::Option* option_;
  };

  // From now on, messages of this process begin with `tool`. Calls BeginTool().
  Flags(const std::string& tool, const std::string& description);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // `name` is "--flag", "word" for a positional argument, or both: "words,--flag".
  Flag Add(const std::string& name, Variable variable, const std::string& help);

  // Adds a subcommand with its own flags. It lives as long as this object.
  Flags& AddCommand(const std::string& name, const std::string& description);
  void RequireCommand();
  bool given() const;  // for a subcommand, after parsing: whether it is the one in use

  // Sets the variables. Returns nothing on success, else the exit code: 0 after --help or --version (printed to
  // stdout), 2 after a mistake. A mistake prints one line to stderr that starts with the tool's name; for an unknown
  // flag or command it suggests a known one (a flag of the command if one is in use).
  std::optional<int> Parse(int argc, const char* const* argv);

  // As above, for a tool that Ninja runs: adds --abi, which prints `abi` and exits 0. `abi` has one line for each
  // version that makes the tool's outputs stale when it changes (work/abi/TOOL.txt; doc/internals/manifest.md).
  std::optional<int> Parse(int argc, const char* const* argv, const std::string& abi);

  // As above, for a tool whose versions tests may override: adds --pretend-versions (base/version.h), which is not in
  // --help and is processed before `abi` is called.
  std::optional<int> Parse(int argc, const char* const* argv, std::string (*abi)());

  // After parsing: returns nothing if all these flags were given, else prints a line to stderr and returns the exit
  // code. For flags that only one of the tool's modes needs; mark others Required().
  std::optional<int> Require(const std::vector<std::string>& flags) const;

 private:
  explicit Flags(CLI::App* command);
  std::unique_ptr<CLI::App> own_;  // null for a subcommand: the tool's app owns its app
  CLI::App* app_;
  std::vector<std::unique_ptr<Flags>> commands_;
};

}  // namespace hone
