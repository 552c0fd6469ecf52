#include "base/log.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace hone {
namespace {

constexpr size_t kMaxLine = 1000;  // bytes on stderr; the log file gets the whole message

struct State {
  std::mutex mutex;
  std::string name;
  LogLevel lowest = LogLevel::kInfo;
  Fd file;
  std::string live;  // the live line as shown now
};

State& Global() {
  static State* state = new State;  // never destroyed: other threads may log while the program ends
  return *state;
}

void WriteOnce(int fd, const std::string& text) { (void)!::write(fd, text.data(), text.size()); }

const char* LevelName(LogLevel level) {
  static constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<size_t>(level)];
}

const char* ColorOf(LogLevel level) {
  if (level == LogLevel::kError) return "\x1b[1;31m";
  return level == LogLevel::kWarning ? "\x1b[1;33m" : "";
}

std::string ForPeople(const State& state, LogLevel level, std::string_view message) {
  std::string line;
  if (level != LogLevel::kInfo) {
    if (!state.name.empty()) line += state.name + ": ";
    std::string color = UseColor(STDERR_FILENO) ? ColorOf(level) : "";
    line += color + LevelName(level) + ":" + (color.empty() ? "" : "\x1b[0m") + " ";
  }
  return line.append(message).append("\n");
}

size_t TerminalWidth() {
  winsize size;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

void SetLogName(std::string name) {
  State& state = Global();
  std::lock_guard<std::mutex> hold(state.mutex);
  state.name = std::move(name);
}

void SetLogLevel(LogLevel lowest) {
  State& state = Global();
  std::lock_guard<std::mutex> hold(state.mutex);
  state.lowest = lowest;
}

Status OpenLogFile(const std::string& path) {
  // A planted link could append to any file of this user.
  HONE_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW));
  State& state = Global();
  std::lock_guard<std::mutex> hold(state.mutex);
  state.file = std::move(fd);
  return Status();
}

void CloseLogFile() {
  State& state = Global();
  std::lock_guard<std::mutex> hold(state.mutex);
  state.file = Fd();
}

void Log(LogLevel level, std::string_view raw) {
  const std::string message = Printable(raw);
  State& state = Global();
  std::lock_guard<std::mutex> hold(state.mutex);
  if (level >= state.lowest) {
    std::string text = ForPeople(state, level, CutMiddle(message, kMaxLine));
    // One write, so that lines of different processes do not mix.
    WriteOnce(STDERR_FILENO, state.live.empty() ? text : "\r\x1b[K" + text + state.live);
  }
  if (state.file.open()) {
    WriteOnce(state.file.get(),
              FormatIso8601(RealClock()->WallSeconds()) + " " + LevelName(level) + " " + message + "\n");
  }
}

void PrintOut(std::string_view lines) {
  const std::string text = PrintableLines(lines);
  (void)!std::fwrite(text.data(), 1, text.size(), stdout);
}

void ShowLiveLine(std::string_view text) {
  if (!IsTerminal(STDERR_FILENO)) return;
  State& state = Global();
  std::lock_guard<std::mutex> hold(state.mutex);
  if (text.empty() && state.live.empty()) return;
  state.live = text.substr(0, TerminalWidth() - 1);
  WriteOnce(STDERR_FILENO, "\r\x1b[K" + state.live);
}

bool IsTerminal(int fd) { return ::isatty(fd) == 1; }

bool UseColor(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  bool refused = no_color != nullptr && *no_color != '\0';
  bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return !refused && !dumb && IsTerminal(fd);
}

}  // namespace hone
