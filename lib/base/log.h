// Messages for people: to stderr, and to a log file if one is open. Never data. Usable from any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace hone {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// The name before warnings and errors on stderr: "hone-tune: error: ...". Empty by default.
void SetLogName(std::string name);

void SetLogLevel(LogLevel lowest);  // for stderr, kInfo by default; the log file gets everything

// From now on also appends every message, with its time (ISO 8601, UTC) and level, to `path`. Rejects symbolic links.
Status OpenLogFile(const std::string& path);
void CloseLogFile();

// Logs one message as one line; adds the newline. Messages may quote untrusted text, so control characters are escaped
// (Printable in base/text.h), and on stderr a message above 1000 bytes loses its middle.
void Log(LogLevel level, std::string_view message);
inline void LogDebug(std::string_view message) { Log(LogLevel::kDebug, message); }
inline void LogInfo(std::string_view message) { Log(LogLevel::kInfo, message); }
inline void LogWarning(std::string_view message) { Log(LogLevel::kWarning, message); }
inline void LogError(std::string_view message) { Log(LogLevel::kError, message); }

// Prints lines for people to stdout. They may quote untrusted text, so control characters other than newlines and tabs
// are escaped (PrintableLines in base/text.h). Do not use it for output that other programs read.
void PrintOut(std::string_view lines);

// Shows one line at the bottom of the terminal, below the messages, which the next call overwrites. Cut to the
// terminal's width; does nothing if stderr is not a terminal. An empty text removes the line.
void ShowLiveLine(std::string_view text);

// Each of these also takes a format with its arguments: LogInfo("{}: no job {}", path, number).
#define HONE_MESSAGE(Say)                                                            \
  template <typename First, typename... Rest>                                        \
  void Say(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) { \
    Say(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)); \
  }
HONE_MESSAGE(LogDebug)
HONE_MESSAGE(LogInfo)
HONE_MESSAGE(LogWarning)
HONE_MESSAGE(LogError)
HONE_MESSAGE(PrintOut)
HONE_MESSAGE(ShowLiveLine)
#undef HONE_MESSAGE

bool IsTerminal(int fd);
bool UseColor(int fd);  // fd is a terminal, TERM is not "dumb" and NO_COLOR is unset or empty (no-color.org)

}  // namespace hone
