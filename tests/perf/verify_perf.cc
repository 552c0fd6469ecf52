// The cost of options.verify: creates a library's network with and without it, in turns, with one thread. Usage:
// verify_perf DIR [--rounds N], for DIR = work/out/NET.TARGET. Prints the milliseconds of both and of the difference in
// one round, minimum / median.
#include "base/clock.h"
#include "library/loaded_network.h"
#include "perf/flags.h"

namespace hone {
namespace {

Result<double> CreateMs(const library::LoadedNetwork& net, const std::string& params, int verify) {
  const HoneNetOptions options{.params_path = params.c_str(), .threads = 1, .verify = verify};
  HoneNet* instance = nullptr;
  const double start = RealClock()->NowSeconds();
  const int code = net.create(&options, &instance);
  const double ms = 1e3 * (RealClock()->NowSeconds() - start);
  net.destroy(instance);
  if (code != HONE_NET_OK) return Status::Invalid("{}: {}", params, net.strerror(code));
  return ms;
}

Status Measure(const std::string& dir, int rounds) {
  HONE_ASSIGN_OR_RETURN(const library::LibraryFolder folder, library::ReadLibraryFolder(dir));
  HONE_ASSIGN_OR_RETURN(const auto net, library::LoadedNetwork::Load(folder.LibraryPath(), folder.identifier));
  HONE_RETURN_IF_ERROR(CreateMs(net, folder.ParamsPath(), 1).status());  // the file is in memory from now on
  std::vector<double> plain, verified, difference;
  for (int i = 0; i < rounds; ++i) {
    HONE_ASSIGN_OR_RETURN(const double without, CreateMs(net, folder.ParamsPath(), 0));
    HONE_ASSIGN_OR_RETURN(const double with, CreateMs(net, folder.ParamsPath(), 1));
    plain.push_back(without), verified.push_back(with), difference.push_back(with - without);
  }
  HONE_ASSIGN_OR_RETURN(const int64_t bytes, FileSize(folder.ParamsPath()));
  fmt::print("{:.1f} MB of parameters\n", 1e-6 * static_cast<double>(bytes));
  for (const auto& [name, ms] : {std::pair("without", &plain), {"with verify", &verified}, {"difference", &difference}})
    fmt::print("{:<12} {:7.2f} / {:7.2f} ms\n", name, *std::ranges::min_element(*ms), Median(*ms));
  return Status();
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::perf::Flags flags("verify_perf DIR [--rounds N]", argc, argv);
  const auto rounds = static_cast<int>(flags.Number("--rounds", 30));
  const std::vector<std::string> words = flags.Words();
  if (words.size() != 1) flags.Misused("one folder of a library is needed");
  return hone::ExitCodeOf(hone::Measure(words[0], rounds));
}
