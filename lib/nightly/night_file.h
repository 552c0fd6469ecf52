// The nightly run in progress, NIGHTS/night.json. It gives all jobs of a run the same name, also after an interrupt:
//   {"version": 1, "night": "2026-11-21T03:00:00Z", "opened": 1795230000.5, "closed": false}
// `opened`: seconds since 1970.
#pragma once

#include <string>

#include "base/result.h"

namespace hone::nightly {

// A run that was not closed is abandoned after this time.
inline constexpr double kLongestNight = 12 * 3600;

// Returns the name of the open run, or opens one that is named by `now` (seconds since 1970).
Result<std::string> OpenNight(const std::string& nights, double now);

// The name of the last run; empty if there was no run.
Result<std::string> LastNight(const std::string& nights);

// Ends the run: the next measurement opens another one. Ok if no run is open.
Status CloseNight(const std::string& nights);

// The folder of a series' nights: "main" is NIGHTS itself, others a folder in it.
std::string SeriesDir(const std::string& nights, const std::string& series);
// A job's lines (nightly/history.h).
std::string HistoryPath(const std::string& nights, const std::string& series, const std::string& job);
// Ninja's output for "this job was measured tonight". The file never exists, so that Ninja always measures.
std::string TonightPath(const std::string& nights, const std::string& series, const std::string& job);

}  // namespace hone::nightly
