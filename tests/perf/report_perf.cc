// How long the report of a night takes, and how large it is: `report_perf [jobs] [nights] [kernels] [folder]`. With a
// folder the two files are written there.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "nightly/report.h"
#include "nights.h"

using namespace hone;

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const report::NightsWanted wanted{number(1, 10), number(2, 90), number(3, 30)};
  std::string html;
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    nightly::NightlyData data = report::SampleNights(wanted);
    const auto begin = std::chrono::steady_clock::now();
    nightly::Conclude(&data);
    html = nightly::NightlyHtml(data);
    const std::pair<const char*, std::string> files[] = {{"junit.xml", nightly::NightlyJunit(data)},
                                                         {"index.html", html}};
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (round > 0) continue;
    for (const auto& [name, text] : files) {
      fmt::print("{:<12} {:>10} bytes\n", name, text.size());
      if (argc > 4 && (!MakeDirs(argv[4]).ok() || !WriteFileIfChanged(JoinPath(argv[4], name), text).ok())) return 1;
    }
  }
  std::sort(times.begin(), times.end());
  fmt::print("{} nights x {} networks x {} kernels: {:.0f} ms (median of {}, both files)\n", wanted.nights, wanted.jobs,
             wanted.kernels, 1e3 * times[times.size() / 2], times.size());
  return 0;
}
