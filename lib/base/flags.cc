#include "base/flags.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/interrupt.h"
#include "base/suggest.h"
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

// One line, with a suggestion where the mistake is an unknown flag.
std::string Explain(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  std::string what = error.what();
  for (char& c : what) c = c == '\n' ? ' ' : c;
  // A misspelt flag also makes a required one missing; the slip is what the user wants to hear about.
  bool may_be_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!may_be_unknown) return what;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    std::string flag = word.substr(0, word.find('='));
    if (flag.rfind("--", 0) != 0 || flag == "--" || app.get_option_no_throw(flag) != nullptr) continue;
    std::optional<std::string> near = Suggest(flag, KnownFlags(app));
    return "unknown flag " + flag + (near ? "; did you mean " + *near + "?" : "; see --help");
  }
  return what;
}

}  // namespace

std::optional<int> ParseFlags(CLI::App* app, int argc, const char* const* argv) {
  try {
    app->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& help) {
    return app->exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\n", app->get_name().c_str(), Explain(*app, error, argc, argv).c_str());
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

}  // namespace hone
