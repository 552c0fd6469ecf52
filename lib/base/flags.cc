#include "base/flags.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/interrupt.h"
#include "base/suggest.h"
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

std::vector<std::string> KnownCommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// What is wrong with the first word that nobody knows, or with the missing command; nothing if all words are known.
std::optional<std::string> FindUnknown(const CLI::App& root, int argc, const char* const* argv) {
  const CLI::App* app = &root;  // the command whose words these are
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    if (word.rfind("--", 0) == 0) {
      const std::string flag = word.substr(0, word.find('='));
      const CLI::Option* option = app->get_option_no_throw(flag);
      if (option == nullptr && app != &root) option = root.get_option_no_throw(flag);
      if (option == nullptr) {
        const std::optional<std::string> near = Suggest(flag, KnownFlags(*app));
        const std::string help = app == &root ? "--help" : app->get_name() + " --help";
        return "unknown flag " + flag + (near ? "; did you mean " + *near + "?" : "; see " + help);
      }
      if (flag == word && option->get_items_expected_max() > 0) ++i;  // its value
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

// The first flag or argument of `app` or of the command in use that was given the empty text, which no tool can use.
std::optional<std::string> FindEmpty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) return option->get_name();
    }
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (auto found = FindEmpty(*command)) return found;
  }
  return std::nullopt;
}

// One line, with a suggestion where the mistake is an unknown flag or command.
std::string Explain(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  std::string what = error.what();
  for (char& c : what) c = c == '\n' ? ' ' : c;
  // A misspelt flag also makes a required one missing; the slip is what the user wants to hear about.
  bool may_be_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!may_be_unknown) return what;
  return FindUnknown(app, argc, argv).value_or(what);
}

}  // namespace

std::optional<int> ParseFlags(CLI::App* app, int argc, const char* const* argv) {
  try {
    app->parse(argc, argv);
    const std::optional<std::string> empty = FindEmpty(*app);
    if (!empty) return std::nullopt;
    std::fprintf(stderr, "%s: %s: its value is empty\n", app->get_name().c_str(), empty->c_str());
    return kMisused;
  } catch (const CLI::Success& help) {
    return app->exit(help);
  } catch (const CLI::ParseError& error) {
    const std::string what = CutMiddle(Printable(Explain(*app, error, argc, argv)), 1000);
    std::fprintf(stderr, "%s: %s\n", app->get_name().c_str(), what.c_str());
    return kMisused;
  }
}

std::optional<int> ParseFlags(CLI::App* app, int argc, const char* const* argv, const std::string& abi) {
  app->set_version_flag("--version", app->get_name() + " " + kVersion, "print the version and exit");
  // Thrown as the version flag does, so that it comes before the check for required flags.
  app->add_flag_callback(
      "--abi", [&abi] { throw CLI::CallForVersion(abi, 0); }, "print what makes outputs of this tool stale, and exit");
  return ParseFlags(app, argc, argv);
}

std::optional<int> ParseFlags(CLI::App* app, int argc, const char* const* argv, std::string (*abi)()) {
  const std::string_view flag = "--pretend-versions";
  std::string pretended;
  app->add_option(std::string(flag), pretended, "tests: NAME=VERSION,..")->group("");
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == flag) PretendVersions(argv[i + 1]);
  }
  return ParseFlags(app, argc, argv, abi());
}

}  // namespace hone
