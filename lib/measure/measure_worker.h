// The measuring child: `hone-worker measure`.
#pragma once

namespace hone::measure {

// Answers the messages of measure/messages.h on the socket `fd` until the parent closes it. Returns the exit code: 0,
// or 1 if the channel broke. On a fatal signal it writes its current step to stderr.
int RunMeasureWorker(int fd);

}  // namespace hone::measure
