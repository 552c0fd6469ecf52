// The night under way: NIGHTS/night.json, so that all jobs of a night carry the same name, and one that was interrupted
// goes on under it: {"version": 1, "night": "2026-11-21T03:00:00Z", "opened": 1795230000.5, "closed":
// false}, `opened` in seconds since 1970.
#pragma once

#include <string>

#include "base/result.h"

namespace hone::nightly {

// A night that nobody closed is given up after this long: what follows is another one.
inline constexpr double kLongestNight = 12 * 3600;

// Its name: of the one that is open, else of a new one, which is named by `now` (seconds since 1970).
Result<std::string> OpenNight(const std::string& nights, double now);

// The last one opened; empty if there was none.
Result<std::string> LastNight(const std::string& nights);

// Whatever is measured from now on belongs to another one. Ok if none is open.
Status CloseNight(const std::string& nights);

// Where a series has its nights: "main" is NIGHTS itself, others a folder in it.
std::string SeriesDir(const std::string& nights, const std::string& series);
// A job's lines (nightly/history.h).
std::string HistoryPath(const std::string& nights, const std::string& series, const std::string& job);
// What Ninja makes of "this job was measured tonight". There never is such a file, so that it always measures.
std::string TonightPath(const std::string& nights, const std::string& series, const std::string& job);

}  // namespace hone::nightly
