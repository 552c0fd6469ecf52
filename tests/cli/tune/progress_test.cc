// What a tuning job shows while it runs: one live line on a terminal, none in a pipe, its files in any case.
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "tune_folder.h"

namespace hone {
namespace {

class ProgressTest : public TuneFolder {
 protected:
  // What hone-tune writes to a terminal of 80 columns.
  std::string OnATerminal(const std::vector<std::string>& more) {
    int master = -1, slave = -1;
    winsize size = {40, 80, 0, 0};
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
    SpawnOptions options;
    options.argv = {HONE_TUNE};
    const auto arguments = Arguments(more);
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.stderr_fd = slave;
    auto process = Subprocess::Spawn(options);
    close(slave);
    std::string text;
    if (!process.ok()) return text;
    char buffer[4096];
    ssize_t n = 0;
    while ((n = read(master, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(n));
    EXPECT_TRUE(process->Wait(60).ok());
    close(master);
    return text;
  }
};

TEST_F(ProgressTest, ALiveLineOnATerminalWithWhatIsLeft) {
  const std::string text = OnATerminal({"--fake-measure", "1,0.01"});
  // Overwritten in place, and gone at the end.
  EXPECT_NE(text.find("\r\x1b[K"), std::string::npos) << text;
  EXPECT_NE(text.find("/40 trials, "), std::string::npos) << text;
  EXPECT_NE(text.find(", best "), std::string::npos) << text;
  EXPECT_NE(text.find(" left"), std::string::npos) << text;
  const std::string file = *ReadFile(Path("records/t.progress.json"));
  const Json json = *ParseJson(file, "progress");
  EXPECT_EQ(json["state"], "done");
  EXPECT_EQ(json["trials"], 40);
  EXPECT_GE(json["tuning_seconds"], 0.01 * 30) << "forty trials of ten milliseconds, some of which do not compile";
  EXPECT_TRUE(Exists(Path("records/t.log")));
}

TEST_F(ProgressTest, NoEscapesInAPipe) {
  const CommandResult result = Run({"--fake-measure", "1"});
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find('\r'), std::string::npos) << result.err;
}

}  // namespace
}  // namespace hone
