#include "nightly/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

namespace hone::nightly {
namespace {

Status Failed(const std::string& path, const char* what) {
  return Status::Io(fmt::format("{}: {}: {}", path, what, strerror(errno)));
}

// The length of what precedes a torn last line.
Result<off_t> WholeLength(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Failed(path, "cannot look at it");
  char bytes[4096];
  for (off_t end = info.st_size; end > 0;) {
    const off_t begin = end > static_cast<off_t>(sizeof bytes) ? end - static_cast<off_t>(sizeof bytes) : 0;
    const ssize_t got = pread(fd, bytes, static_cast<size_t>(end - begin), begin);
    if (got != end - begin) return Failed(path, "cannot read it");
    for (off_t i = end; i > begin; --i) {
      if (bytes[i - 1 - begin] == '\n') return i;
    }
    end = begin;
  }
  return 0;
}

Status AppendTo(int fd, const std::string& path, const std::string& line) {
  HONE_ASSIGN_OR_RETURN(const off_t length, WholeLength(fd, path));
  if (ftruncate(fd, length) != 0) return Failed(path, "cannot cut off a torn line");
  const ssize_t written = pwrite(fd, line.data(), line.size(), length);
  if (written == static_cast<ssize_t>(line.size()) && fsync(fd) == 0) return Status();
  const Status failed = Failed(path, "cannot append to it");
  // A torn line would be cut off by the next one anyway; readers are spared it if this works.
  if (ftruncate(fd, length) != 0) return failed;
  return failed;
}

}  // namespace

Status AppendLine(const std::string& path, const std::string& line) {
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return Failed(path, "cannot open it");
  const Status status = AppendTo(fd, path, line);
  close(fd);
  return status;
}

Json LayersJson(const std::vector<Layer>& layers) {
  Json json = Json::array();
  for (const Layer& layer : layers) json.push_back({layer.node, layer.seconds});
  return json;
}

Status ReadLayers(JsonReader* reader, std::vector<Layer>* out) {
  if (!reader->Has("layers")) return Status();
  std::vector<JsonReader> items;
  HONE_RETURN_IF_ERROR(reader->Read("layers", &items));
  for (const JsonReader& item : items) {
    const Json& pair = item.value();
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number())
      return item.Error("", "expected a layer as [node, seconds]");
    out->push_back({pair[0].get<std::string>(), pair[1].get<double>()});
  }
  return Status();
}

Status ForEachLine(std::string_view text, const std::string& path, int* torn, std::vector<std::string>* damaged,
                   const std::function<Status(JsonReader*)>& read) {
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      *torn = 1;
      break;
    }
    const std::string where = fmt::format("{}, line {}", path, line);
    const Result<Json> json = ParseJson(text.substr(0, end), where);
    Status status = json.status();
    if (json.ok()) {
      JsonReader reader(*json, where);
      status = read(&reader);
    }
    if (status.kind() == StatusKind::kUnsupported) return status;
    if (!status.ok()) damaged->push_back(status.message());
    text.remove_prefix(end + 1);
  }
  return Status();
}

}  // namespace hone::nightly
