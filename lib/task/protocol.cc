#include "task/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fields.h"

namespace hone {

void ListFields(Fields* f, Protocol* p) {
  f->Value("candidate_seconds", &p->candidate_seconds);
  f->Value("timeout_seconds", &p->timeout_seconds);
  f->Value("prune_factor", &p->prune_factor);
  f->Value("min_samples", &p->min_samples);
  f->Value("max_samples", &p->max_samples);
  f->Value("usual_seconds", &p->usual_seconds);
  f->Value("relative_width", &p->relative_width);
  f->Value("confidence", &p->confidence);
  f->Value("cold_bytes", &p->cold_bytes);
  f->Value("roofline_slack", &p->roofline_slack);
  f->Value("patience_seconds", &p->patience_seconds);
  f->Value("number", &p->number);
  f->Value("repeat", &p->repeat);
  f->Value("min_repeat_ms", &p->min_repeat_ms);
  f->Value("cooldown", &p->cooldown);
}

std::string TimingText(const Protocol& protocol) {
  if (protocol.number == 0) return "";
  return fmt::format("; number={} repeat={} min_repeat_ms={:g} trimmed", protocol.number, protocol.repeat,
                     protocol.min_repeat_ms);
}

// The fingerprint without its release, and the release; the second text is empty if it names no release.
static std::pair<std::string, std::string> CutRelease(const std::string& fingerprint) {
  const size_t begin = fingerprint.find("; release=");
  if (begin == std::string::npos) return {fingerprint, ""};
  const size_t end = std::min(fingerprint.find(';', begin + 1), fingerprint.size());
  return {fingerprint.substr(0, begin) + fingerprint.substr(end), fingerprint.substr(begin, end - begin)};
}

bool SameMachine(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto [machine_a, release_a] = CutRelease(a);
  const auto [machine_b, release_b] = CutRelease(b);
  return machine_a == machine_b && (release_a.empty() || release_b.empty());
}

bool CountsTrimmedMeans(const std::string& fingerprint) {
  const size_t at = fingerprint.find("; number=");
  return at != std::string::npos && fingerprint.find(" trimmed", at) != std::string::npos;  // old ones: medians
}

}  // namespace hone
