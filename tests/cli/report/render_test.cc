// The pages in a real browser, if there is one.
#include <stdlib.h>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "common/expect.h"
#include "nights.h"
#include "report/outputs.h"
#include "sample.h"

namespace hone::report {
namespace {

using namespace nightly;

std::string Browser() {
  const char* path = getenv("PATH");
  for (const std::string& dir : Split(path != nullptr ? path : "", ':')) {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      if (!dir.empty() && Exists(JoinPath(dir, name))) return JoinPath(dir, name);
    }
  }
  return "";
}

struct Scheme {
  const char* name;
  const char* setting;        // Blink's number for it
  const char* back_and_text;  // as in page_style.h
};
constexpr Scheme kSchemes[] = {{"dark", "0", "rgb(19, 22, 25)|rgb(228, 231, 234)"},
                               {"light", "1", "rgb(255, 255, 255)|rgb(28, 32, 36)"}};

// The page with a script that reports to its frame's parent: the frame's width, how far its content exceeds the visible
// width, the background colour, and the text colour.
std::string Probed(const std::string& page, const std::string& name) {
  const std::string probe = "<script>parent.postMessage(\"" + name +
                            "=\" + [innerWidth, document.documentElement.scrollWidth - "
                            "document.documentElement.clientWidth, "
                            "getComputedStyle(document.body).backgroundColor, "
                            "getComputedStyle(document.body).color].join(\"|\"), \"*\");</script>";
  return ReplaceAll(page, "</body>", probe + "</body>");
}

// In frames, as a window cannot be as narrow as a phone.
TEST(Render, PagesFitAPhoneInBothColourSchemesWithoutAComplaint) {
  const std::string browser = Browser();
  if (browser.empty()) GTEST_SKIP() << "no Chromium in PATH";
  const TempDir dir = Must(TempDir::Create());
  const std::vector<std::pair<std::string, std::string>> pages = {
      {"nightly", NightlyHtml(SampleNights())},
      {"hostile", NightlyHtml(HostileNights(kHostile))},
      {"job", HtmlText(SampleReport())},
      {"hostilejob", HtmlText(HostileReport())},
      // Shows that the others could have failed.
      {"control",
       "<!DOCTYPE html><html><body><div style=\"width: 1000px\">wide</div>"
       "<script>console.error(\"control\");</script></body></html>"}};
  std::string frames =
      "<!DOCTYPE html><html><body><pre id=\"told\">told:</pre><script>onmessage = e => "
      "document.getElementById(\"told\").textContent += e.data + \";\";</script>";
  for (const auto& [name, page] : pages) {
    // Opens all details: hidden content cannot be too wide.
    ASSERT_TRUE(
        WriteFileIfChanged(dir.Join(name + ".html"), Probed(ReplaceAll(page, "<details>", "<details open=\"\">"), name))
            .ok());
    frames += "<iframe src=\"" + name + ".html\" style=\"width: 390px; height: 844px; border: 0\"></iframe>";
  }
  ASSERT_TRUE(WriteFileIfChanged(dir.Join("frames.html"), frames + "</body></html>").ok());
  for (const Scheme& scheme : kSchemes) {
    SCOPED_TRACE(scheme.name);
    CommandOptions options;
    options.timeout_seconds = 120;
    const CommandResult run = Must(
        RunCommand({browser, "--headless", "--no-sandbox", "--disable-gpu",
                    "--user-data-dir=" + dir.Join(std::string("profile-") + scheme.name), "--enable-logging=stderr",
                    std::string("--blink-settings=preferredColorScheme=") + scheme.setting,
                    "--virtual-time-budget=3000", "--dump-dom", "file://" + dir.Join("frames.html")},
                   options));
    const size_t told = run.out.find("told:");
    ASSERT_NE(told, std::string::npos) << browser << ": " << run.status.ToString() << "\n" << run.err;
    const std::string answer = run.out.substr(told, run.out.find('<', told) - told);
    for (const auto& [name, page] : pages) {
      // The scheme's colours, and nothing wider than the frame.
      const bool fits = answer.find(name + "=390|0|" + scheme.back_and_text + ";") != std::string::npos;
      EXPECT_EQ(fits, name != "control") << name << " of " << answer;
    }
    int complaints = 0;
    for (const std::string& line : Split(run.err, '\n')) {
      if (line.find(":CONSOLE") == std::string::npos) continue;
      ++complaints;
      EXPECT_NE(line.find("control"), std::string::npos) << line;
    }
    EXPECT_EQ(complaints, 1) << run.err;
  }
}

}  // namespace
}  // namespace hone::report
