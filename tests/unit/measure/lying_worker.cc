// A measuring child whose memory a candidate has overwritten: as the outcome of a kernel it sends the text that is the
// kernel's symbol. It claims a higher peak each time, and finds nothing right from
// 1 TFLOP/s on. It finds a kernel of 9 ms never right, and says after one of 5 ms that it lost its device.
#include "base/channel.h"
#include "base/fields.h"
#include "base/json.h"
#include "measure/kernel.h"

int main() {
  hone::Channel channel(3);
  double peak = 1e9;
  while (true) {
    const hone::Result<std::string> request = channel.Receive();
    if (!request.ok()) return 0;
    const size_t end = request->find('\n') + 1;
    const hone::Result<hone::Json> message = hone::ParseJson(request->substr(end), "message");
    hone::Json answer = {{"ok", true}, {"peak", peak}};
    if ((*message)["do"] == "verify") {
      const auto canary = hone::FieldsFrom<hone::measure::BuiltKernel>((*message)["kernel"], "kernel");
      const bool never = canary->kernel.symbol.find("0.009") != std::string::npos;
      answer["error"] = never || peak >= 1e12 ? "wrong" : "";
    }
    if ((*message)["do"] == "measure") {
      const auto kernel = hone::FieldsFrom<hone::measure::BuiltKernel>((*message)["kernel"], "kernel");
      answer["outcome"] = hone::Json::parse(kernel->kernel.symbol);
      if (kernel->kernel.symbol.find("0.005") != std::string::npos) answer["lost"] = true, peak = 1e30;
      peak *= 10;
      answer["peak"] = peak;
    }
    if (!channel.Send(request->substr(0, end) + answer.dump()).ok()) return 1;
  }
}
