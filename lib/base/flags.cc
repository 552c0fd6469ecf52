#include "base/flags.h"

#include <errno.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/os_error.h"
#include "base/text.h"
#include "base/version.h"

namespace hone {
namespace {

std::vector<std::string> KnownFlags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string HelpOf(const CLI::App& root, const CLI::App& app) {
  return root.get_name() + (&app == &root ? "" : " " + app.get_name()) + " --help";
}

std::vector<std::string> KnownCommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// The error of the first unknown word, or of a missing command; nothing if all words are known.
std::optional<std::string> FindUnknown(const CLI::App& root, int argc, const char* const* argv) {
  const CLI::App* app = &root;  // the command that the current words belong to
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    if (word.rfind("--", 0) == 0) {
      const std::string flag = word.substr(0, word.find('='));
      const CLI::Option* option = app->get_option_no_throw(flag);
      if (option == nullptr && app != &root) option = root.get_option_no_throw(flag);
      if (option == nullptr) {
        const std::optional<std::string> near = Suggest(flag, KnownFlags(*app));
        return "unknown flag " + flag + (near ? "; did you mean " + *near + "?" : "; see " + HelpOf(root, *app));
      }
      if (flag == word && option->get_items_expected_max() > 0) ++i;  // skip its value
      continue;
    }
    const std::vector<std::string> commands = KnownCommands(*app);
    if (commands.empty() || word.rfind('-', 0) == 0) continue;
    const auto named = [&](const CLI::App* command) { return command->check_name(word); };
    const std::vector<const CLI::App*> found = app->get_subcommands(named);
    if (found.empty()) return "unknown command `" + word + "`" + SuggestionText(word, commands);
    app = found[0];
  }
  const std::vector<std::string> commands = KnownCommands(*app);
  if (commands.empty()) return std::nullopt;
  return "a command is missing" + SuggestionText("", commands);
}

// The error of a value of this type (CLI11's name for it) that is wrong for any flag. CLI11 accepts -1 for an unsigned
// number, nan for a number in a range, and clamps numbers that are too large.
std::optional<std::string> WrongValue(const std::string& type, const std::string& value) {
  const auto is = [&](const char* name) { return StartsWith(type, name); };
  if (value.empty()) return "its value is empty";
  if (is("FLOAT") && !ParseDouble(value).ok()) return "`" + value + "` is not a number";
  if (!is("INT") && !is("UINT")) return std::nullopt;
  if (is("INT") && ParseInt(value).ok()) return std::nullopt;
  uint64_t whole = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), whole);
  if (is("UINT") && read.ec == std::errc() && read.ptr == value.data() + value.size()) return std::nullopt;
  const bool digits = value.find_first_not_of("0123456789", value[0] == '-' ? 1 : 0) == std::string::npos;
  if (digits && value != "-" && (is("INT") || value[0] != '-')) return value + " is too large";
  return "`" + value + "` is not a whole number" + (is("UINT") ? " from 0 up" : "");
}

// The error of the first flag or argument of `app`, or of the command in use, whose value is wrong for any tool.
std::optional<std::string> FindWrongValue(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (const auto wrong = WrongValue(option->get_type_name(), value)) return option->get_name() + ": " + *wrong;
    }
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (auto found = FindWrongValue(*command)) return found;
  }
  return std::nullopt;
}

// One line, with a suggestion if the mistake is an unknown flag or command.
std::string Explain(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const bool value = dynamic_cast<const CLI::ConversionError*>(&error) != nullptr ||
                     dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
  if (value) {
    if (const auto wrong = FindWrongValue(app)) return *wrong;
    // "Could not convert: NAME = VALUE" for a whole number that does not fit its variable.
    const std::string_view text = error.what(), begin = "Could not convert: ";
    if (StartsWith(text, begin)) return ReplaceAll(text.substr(begin.size()), " = ", ": ") + " is too large";
  }
  std::string what = error.what();
  for (char& c : what) c = c == '\n' ? ' ' : c;
  const bool surplus = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!surplus && !missing) return what;
  // A misspelt flag also makes a required flag missing; report the misspelling.
  if (const auto unknown = FindUnknown(app, argc, argv)) return *unknown;
  if (surplus) what = "`" + what.substr(what.find(": ") + 2) + "` is not expected";
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands()[0];
  return what + "; see " + HelpOf(app, *command);
}

// Output to a full disk is lost, and often only the flush at the end fails. So a tool must not exit with 0 before it.
void CheckStdout(int code, void*) {
  if (code != kDone) return;
  int error = std::fflush(stdout) == 0 ? 0 : errno;
  if (error == 0 && std::ferror(stdout) == 0) return;
  // If an earlier write failed, one more byte tells why.
  if (error == 0) error = ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
  LogError(ErrnoStatus(error, "stdout: cannot be written").message());
  _exit(kFailed);
}

// Memory and threads that the system refuses are no bugs: one line and exit code 1 instead of SIGABRT. Nothing is
// committed or renamed on the way.
[[noreturn]] void EndOfUncaught() {
  const char* reason = nullptr;
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    reason = "not enough memory (bad_alloc)";
  } catch (const std::system_error& error) {
    reason = std::strerror(error.code().value());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uncaught exception: %s\n", error.what());
  } catch (...) {
  }
  if (reason == nullptr) std::abort();
  std::fprintf(stderr, "%s: error: %s\n", program_invocation_short_name, reason);
  _exit(kFailed);
}

// Before the first variable of this program that allocates.
[[gnu::constructor(101)]] void WatchUncaught() { std::set_terminate(EndOfUncaught); }

}  // namespace

Flags::Flag& Flags::Flag::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Flags::Flag& Flags::Flag::Required() { return Also(option_->required()); }
Flags::Flag& Flags::Flag::Hidden() { return Also(option_->group("")); }
Flags::Flag& Flags::Flag::Once() { return Also(option_->expected(1)); }
Flags::Flag& Flags::Flag::SplitAt(char separator) { return Also(option_->delimiter(separator)); }
Flags::Flag& Flags::Flag::Within(double low, double high) {
  const std::string range = FormatDouble(low) + " to " + FormatDouble(high);
  const auto outside = [=](const std::string& text) {
    const auto value = ParseDouble(text);
    return value.ok() && *value >= low && *value <= high ? "" : text + " is not in the range from " + range;
  };
  return Also(option_->check(CLI::Validator(outside, range)));
}
Flags::Flag& Flags::Flag::OneOf(const std::vector<std::string>& words) {
  return Also(option_->check(CLI::IsMember(words)));
}
Flags::Flag& Flags::Flag::Needs(const Flag& other) { return Also(option_->needs(other.option_)); }
Flags::Flag& Flags::Flag::Excludes(const Flag& other) { return Also(option_->excludes(other.option_)); }

Flags::Flags(const std::string& tool, const std::string& description)
    : own_(std::make_unique<CLI::App>(description, tool)), app_(own_.get()) {
  SetLogName(tool);
  BeginTool();
  on_exit(CheckStdout, nullptr);
}

Flags::Flags(CLI::App* command) : app_(command) {}

Flags::~Flags() = default;

Flags::Flag Flags::Add(const std::string& name, Variable variable, const std::string& help) {
  return std::visit(
      [&](auto* value) {
        if constexpr (std::is_same_v<decltype(value), bool*>)
          return Flag(app_->add_flag(name, *value, help));
        else
          return Flag(app_->add_option(name, *value, help));
      },
      variable);
}

Flags& Flags::AddCommand(const std::string& name, const std::string& description) {
  commands_.push_back(std::unique_ptr<Flags>(new Flags(app_->add_subcommand(name, description))));
  return *commands_.back();
}

void Flags::RequireCommand() { app_->require_subcommand(1); }

bool Flags::given() const { return app_->parsed(); }

std::optional<int> Flags::Parse(int argc, const char* const* argv) {
  app_->set_version_flag("--version", app_->get_name() + " " + kVersion, "print the version and exit");
  std::string mistake;
  try {
    app_->parse(argc, argv);
    const std::optional<std::string> wrong = FindWrongValue(*app_);
    if (!wrong) return std::nullopt;
    mistake = *wrong;
  } catch (const CLI::Success& help) {
    return app_->exit(help);
  } catch (const CLI::ParseError& error) {
    mistake = Explain(*app_, error, argc, argv);
  }
  std::fprintf(stderr, "%s: %s\n", app_->get_name().c_str(), CutMiddle(Printable(mistake), 1000).c_str());
  return kMisused;
}

std::optional<int> Flags::Parse(int argc, const char* const* argv, const std::string& abi) {
  // Throws like the version flag, to take effect before the check for required flags.
  app_->add_flag_callback(
      "--abi", [&abi] { throw CLI::CallForVersion(abi, 0); },
      "print the versions that this tool's outputs depend on, and exit");
  return Parse(argc, argv);
}

std::optional<int> Flags::Parse(int argc, const char* const* argv, std::string (*abi)()) {
  const std::string_view flag = "--pretend-versions";
  std::string pretended;
  Add(std::string(flag), &pretended, "tests: NAME=VERSION,..").Hidden();
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == flag) PretendVersions(argv[i + 1]);
  }
  return Parse(argc, argv, abi());
}

std::optional<int> Flags::Require(const std::vector<std::string>& flags) const {
  for (const std::string& flag : flags) {
    if (app_->count(flag) > 0) continue;
    const char* tool = app_->get_name().c_str();
    std::fprintf(stderr, "%s: %s is required; see %s --help\n", tool, flag.c_str(), tool);
    return kMisused;
  }
  return std::nullopt;
}

}  // namespace hone
