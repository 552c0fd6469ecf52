#include "measure/measure_worker.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>

#include "base/channel.h"
#include "base/fields.h"
#include "base/seccomp.h"
#include "measure/machine.h"
#include "measure/worker.h"

namespace hone::measure {
namespace {

// Uses only write(2), as the process is in an unknown state. The signal then repeats with its default action.
void OnFatalSignal(int signal, siginfo_t* info, void*) {
  char text[192] = "";
  if (signal == SIGSYS) {
    std::strcpy(text, "forbidden system call ");
    AppendRefusedCall(*info, text, 96);
    std::strcat(text, ", ");
  }
  std::strcat(text, "while ");
  std::strncat(text, current_phase, 64);
  std::strcat(text, "\n");
  (void)!write(2, text, std::strlen(text));
  if (signal == SIGSYS) EndByRefusedCall();
}

void InstallFatalHandlers() {
  static char stack[16384];  // a kernel may have exhausted its own
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnFatalSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS}) sigaction(signal, &action, nullptr);
}

Json Error(const Status& status) { return {{"ok", false}, {"error", status.message()}}; }

class MeasureWorker {
 public:
  Json Answer(const std::string& text) {
    auto message = ParseJson(text, "message");
    if (!message.ok()) return Error(message.status());
    auto answer = Do(*message);
    if (!answer.ok()) return Error(answer.status());
    if (runner_) (*answer)["peak"] = runner_->peak_flops();
    if (runner_ && runner_->busy_seconds()) {
      const double busy = *runner_->busy_seconds();
      (*answer)["busy"] = busy - std::exchange(told_busy_, busy);
    }
    if (const std::string slowed = runner_ ? runner_->TakeSlowed() : ""; !slowed.empty()) (*answer)["slowed"] = slowed;
    if (runner_ && runner_->lost()) (*answer)["lost"] = true;
    return *answer;
  }

 private:
  Result<Json> Do(const Json& message) {
    std::string verb;
    JsonReader reader(message, "message");
    HONE_RETURN_IF_ERROR(reader.Read("do", &verb));
    if (verb == "setup") return Setup(message);
    if (!runner_) return Status::Invalid("the first message must be setup");
    if (verb == "measure") return Measure(message);
    if (verb == "verify") return Verify(message);
    if (verb == "interleaved") return Interleaved(message);
    return Status::Invalid("unknown message " + verb);
  }

  Result<Json> Setup(const Json& message) {
    HONE_ASSIGN_OR_RETURN(TaskSetup setup, FieldsFrom<TaskSetup>(message, "setup message"));
    Target target;
    if (!setup.target.empty()) {
      HONE_ASSIGN_OR_RETURN(target, Target::Parse(setup.target));
    }
    HONE_ASSIGN_OR_RETURN(const Machine* machine, FindMachine(target));
    HONE_ASSIGN_OR_RETURN(runner_, machine->MakeRunner(setup, target));
    return Json{{"ok", true}};
  }

  Result<Json> Measure(const Json& message) {
    JsonReader reader(message, "message");
    Fields fields(&reader);
    double incumbent = 0;
    BuiltKernel kernel;
    fields.Value("incumbent", &incumbent);
    fields.Value("kernel", &kernel);
    HONE_RETURN_IF_ERROR(fields.status());
    return Json{{"ok", true}, {"outcome", VerdictToJson(runner_->Measure(kernel, incumbent))}};
  }

  Result<Json> Verify(const Json& message) {
    HONE_ASSIGN_OR_RETURN(const auto kernel, FieldsFrom<BuiltKernel>(message["kernel"], "message"));
    return Json{{"ok", true}, {"error", TrialErrorName(runner_->Verify(kernel))}};
  }

  Result<Json> Interleaved(const Json& message) {
    JsonReader reader(message, "message");
    Fields fields(&reader);
    int rounds = 0;
    std::vector<BuiltKernel> kernels;
    fields.Value("rounds", &rounds);
    fields.Value("kernels", &kernels);
    HONE_RETURN_IF_ERROR(fields.status());
    std::vector<Series> series = runner_->MeasureInterleaved(kernels, rounds);
    Json answer = {{"ok", true}};
    Fields(&answer).Value("series", &series);
    return answer;
  }

  std::unique_ptr<CandidateRunner> runner_;
  double told_busy_ = 0;  // the runner's busy seconds reported so far
};

}  // namespace

int RunMeasureWorker(int fd) {
  SayStarted();
  InstallFatalHandlers();
  EndWithoutMemory();
  Channel channel(fd);
  MeasureWorker worker;
  while (true) {
    auto message = channel.Receive();
    if (!message.ok()) return EndOfChannel(message.status());
    const size_t end = message->find('\n');
    if (end == std::string::npos) return 1;
    const std::string id = message->substr(0, end + 1);
    const Status sent = channel.Send(id + DumpJson(worker.Answer(message->substr(end + 1)), -1));
    if (!sent.ok()) return EndOfChannel(sent);
  }
}

}  // namespace hone::measure
