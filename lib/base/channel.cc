#include "base/channel.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/os_error.h"

namespace hone {
namespace {

constexpr std::string_view kMagic = "HNC1";
constexpr size_t kHeaderBytes = 8;

// Waits for `events` on fd. False on timeout.
bool WaitFor(int fd, short events, const Deadline& deadline) {
  for (;;) {
    pollfd entry = {fd, events, 0};
    int n = ::poll(&entry, 1, deadline.PollMillis());
    if (n > 0) return true;
    if (deadline.Passed()) return false;
  }
}

bool PeerIsGone(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

// The system lacks memory; or the descriptor is not the channel any more, which code in this process has caused.
Status Failed(int error, const std::string& what) {
  if (error == ENOMEM || error == ENOBUFS) return ErrnoStatus(error, what);
  return Status::Corrupt(what + ": " + ErrnoText(error));
}

uint32_t LengthOf(std::string_view header) {
  uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = (length << 8) | static_cast<uint8_t>(header[4 + static_cast<size_t>(i)]);
  return length;
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::Pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return ErrnoStatus(errno, "socketpair");
  return std::pair<Channel, Channel>(Channel(fds[0]), Channel(fds[1]));
}

void Channel::Close() {
  fd_ = Fd();
  partial_.clear();
}

Status Channel::Send(std::string_view payload, double timeout_seconds) {
  if (!fd_.open()) return Status::Crashed("the channel is closed");
  if (payload.size() > kMaxFrameBytes) {
    return Status::Invalid("a message of " + std::to_string(payload.size()) + " bytes is too long for a channel");
  }
  Deadline deadline(timeout_seconds);
  std::string frame(kMagic);
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>((payload.size() >> shift) & 255);
  frame.append(payload);
  std::string_view left = frame;
  while (!left.empty()) {
    ssize_t n = ::send(fd(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      left.remove_prefix(static_cast<size_t>(n));
    } else if (PeerIsGone(errno)) {
      return Status::Crashed("the peer is gone");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd(), POLLOUT, deadline)) return Status::Timeout("the peer does not read");
    } else if (errno != EINTR) {
      return Failed(errno, "cannot send");
    }
  }
  return Status();
}

Result<std::string> Channel::Receive(double timeout_seconds) {
  if (!fd_.open()) return Status::Crashed("the channel is closed");
  Deadline deadline(timeout_seconds);
  for (;;) {
    // Never reads beyond the frame: then poll reports remaining bytes, and no frame stays unseen in a buffer.
    size_t wanted = kHeaderBytes;
    if (partial_.size() >= kHeaderBytes) {
      if (std::string_view(partial_).substr(0, kMagic.size()) != kMagic) {
        return Status::Corrupt("the peer sent something that is not a message");
      }
      size_t length = LengthOf(partial_);
      if (length > kMaxFrameBytes) return Status::Corrupt("the peer announced a message that is too long");
      wanted += length;
      if (partial_.size() == wanted) {
        std::string payload = partial_.substr(kHeaderBytes);
        partial_.clear();
        return payload;
      }
    }
    char chunk[65536];
    ssize_t n = ::recv(fd(), chunk, std::min(sizeof chunk, wanted - partial_.size()), MSG_DONTWAIT);
    if (n > 0) {
      partial_.append(chunk, static_cast<size_t>(n));
    } else if (n == 0 || PeerIsGone(errno)) {
      return Status::Crashed(partial_.empty() ? "the peer is gone" : "the peer died in the middle of a message");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd(), POLLIN, deadline)) return Status::Timeout("no message in time");
    } else if (errno != EINTR) {
      return Failed(errno, "cannot receive");
    }
  }
}

bool Channel::Pending() const {
  char byte;
  return !partial_.empty() || ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

int WaitReadable(const std::vector<int>& fds, double timeout_seconds) {
  std::vector<pollfd> entries;
  for (int fd : fds) entries.push_back({fd, POLLIN, 0});
  int n = ::poll(entries.data(), entries.size(), Deadline(timeout_seconds).PollMillis());
  if (n <= 0) return -1;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].revents != 0) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace hone
