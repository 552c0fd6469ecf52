// Words for people: to stderr, and to a log file if one is open. Data never goes here. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace hone {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// The name in front of warnings and errors on stderr: "hone-tune: error: ...". Empty at first.
void SetLogName(std::string name);

void SetLogLevel(LogLevel lowest);  // for stderr, kInfo at first; the file gets everything

// Also appends every message, with its time (ISO 8601, UTC) and level, to `path` from now on. No symbolic link.
Status OpenLogFile(const std::string& path);
void CloseLogFile();

// One message, which is one line: a newline is added. What it quotes may come from anywhere: control characters are
// escaped (Printable in base/text.h), and on stderr a message above 1000 bytes loses its middle.
void Log(LogLevel level, std::string_view message);
inline void LogDebug(std::string_view message) { Log(LogLevel::kDebug, message); }
inline void LogInfo(std::string_view message) { Log(LogLevel::kInfo, message); }
inline void LogWarning(std::string_view message) { Log(LogLevel::kWarning, message); }
inline void LogError(std::string_view message) { Log(LogLevel::kError, message); }

// Lines for people on stdout, which may quote anything: control characters but newlines and tabs are escaped
// (PrintableLines in base/text.h). What other programs read is written as it is.
void PrintOut(std::string_view lines);

// One line at the bottom of the terminal that is overwritten by the next and stays below the messages; cut to the width
// of the terminal; nothing at all if stderr is no terminal. Empty text removes it.
void ShowLiveLine(std::string_view text);

bool IsTerminal(int fd);
bool UseColor(int fd);  // a terminal, TERM is not "dumb" and NO_COLOR is unset or empty (no-color.org)

}  // namespace hone
