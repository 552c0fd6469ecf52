#include "unit/op/kernel_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/check.h"
#include "op/operator.h"
#include "semantics/elementwise.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

using fmt::format;

// One cell of the grid.
struct Place {
  int turn = 0;  // 0 .. 19
  int64_t n = 1, c = 1, h = 1, w = 1;
  int64_t out = 1;  // channels of the following layer

  std::string Data() const { return Data(c); }
  std::string Data(int64_t channels) const { return format("f32[{},{},{},{}]", n, channels, h, w); }
  int64_t depth() const { return 1 + turn % 3; }
  std::string Volume() const { return Volume(c); }
  std::string Volume(int64_t channels) const { return format("f32[{},{},{},{},{}]", n, channels, depth(), h, w); }

  // Padding of half a window, and one more on one side of each axis.
  std::string Window(int64_t kh, int64_t kw, int64_t stride, int64_t dilation = 1) const {
    auto around = [&](int64_t k, int64_t more) { return k == 1 ? 0 : (k - 1) * dilation / 2 + more; };
    return format("stride={0}x{0}, pad={1},{2},{3},{4}{5}", stride, around(kh, turn % 2), around(kw, turn / 2 % 2),
                  around(kh, 1 - turn % 2), around(kw, 1 - turn / 2 % 2),
                  dilation > 1 ? format(", dilation={0}x{0}", dilation) : "");
  }
  std::string Window3d(int64_t k, int64_t stride) const {
    const int64_t less = (k - 1) / 2, more = k > 1 ? less + 1 : 0;
    return format("stride=1x{0}x{0}, pad={1},{2},{1},{1},{1},{2}", stride, less, more);
  }
  template <typename T>
  T Turn(const std::vector<T>& choices) const {
    return choices[static_cast<size_t>(turn) % choices.size()];
  }
  std::string Epilogue() const {
    return Turn<std::string>({" + bias + relu", "", " + bias + add + relu", " + bias", " + bias + clip(0.25,1)"});
  }
  // An epilogue that may precede a pool.
  std::string EpilogueOfOne() const { return Turn<std::string>({" + bias + relu", "", " + bias"}); }
};

std::vector<Place> Places() {
  const std::vector<int64_t> channels = {1, 3, 17, 33}, extents = {1, 2, 5, 7, 13};
  std::vector<Place> places;
  for (size_t c = 0; c < 4; ++c) {
    for (size_t e = 0; e < 5; ++e) {
      const int turn = static_cast<int>(c * 5 + e);
      places.push_back({turn, (c + e) % 3 == 0 ? 3 : 1, channels[c], extents[e], extents[(e + 2 * c) % 5],
                        channels[(c + e + 1) % 4]});
    }
  }
  return places;
}

// A workload's output type, for the next one in a chain.
TensorType Made(const std::string& text) {
  Result<Workload> w = ParseChecked(text);
  HONE_CHECK(w.ok());
  return *semantics::InferOutput(*w);
}

class Texts {
 public:
  explicit Texts(const Place& place) : p_(place) {
    Convolutions();
    Groups();
    Volumes();
    Transposed();
    Products();
    Pools();
    Chains();
    ComposedGroups();
    Elementwise();
    Reductions();
    Movement();
    Norms();
  }
  std::vector<std::string> Take() { return std::move(texts_); }

 private:
  // In its own layout and, where it accepts others, in one of them by turns.
  void Add(const std::string& text) {
    texts_.push_back(text);
    Workload w = *ParseChecked(text);
    if (w.chain() || !semantics::AcceptsLayout(w, Layout::kChannelsLast)) return;
    const bool plain = ++others_ % 4 == 0 && semantics::AcceptsLayout(w, Layout::kPlain);
    semantics::SetLayout(&w, plain ? Layout::kPlain : Layout::kChannelsLast);
    texts_.push_back(w.Text());
  }

  std::string Conv(int64_t kh, int64_t kw, const std::string& window) const {
    return format("conv2d({}, f32[{},{},{},{}], {})", p_.Data(), p_.out, p_.c, kh, kw, window);
  }

  void Convolutions() {
    const int64_t stride = 1 + p_.turn % 2;
    for (int64_t s : {1, 2}) Add(Conv(3, 3, p_.Window(3, 3, s)) + p_.Epilogue());
    Add(Conv(1, 1, p_.Window(1, 1, stride)) + p_.Epilogue());
    const int64_t wide = p_.turn / 2 % 2 == 0 ? 5 : 7;
    Add(Conv(wide, wide, p_.Window(wide, wide, stride)) + p_.Epilogue());
    const int64_t taps = p_.turn / 4 % 2 == 0 ? 3 : 7;
    Add(Conv(1, taps, p_.Window(1, taps, 1)) + p_.Epilogue());
    Add(Conv(taps, 1, p_.Window(taps, 1, 1)) + p_.Epilogue());
    Add(Conv(3, 3, p_.Window(3, 3, stride, 2)) + p_.Epilogue());
    const int64_t first = p_.turn % 3 == 0 ? 7 : 3;
    Add(Conv(first, first, p_.Window(first, first, stride) + ", in=nchw") + p_.Epilogue());
  }

  void Groups() {
    if (p_.c == 1) return;
    const int64_t stride = 1 + p_.turn % 2, k = p_.turn % 4 < 2 ? 3 : 5;
    Add(format("conv2d({}, f32[{},1,{},{}], {}, groups={}){}", p_.Data(), p_.c, k, k, p_.Window(k, k, stride), p_.c,
               p_.Epilogue()));
    // As many groups as the grid's channels: with as many channels out as in, for vectors over lanes, and with more.
    for (int64_t more : {0, 1}) {
      const int64_t in = p_.Turn<int64_t>({2, 4, 3}), out = in + more;
      Add(format("conv2d({}, f32[{},{},3,3], {}, groups={}){}", p_.Data(p_.c * in), p_.c * out, in,
                 p_.Window(3, 3, stride, more == 0 ? 1 : 2), p_.c, p_.Epilogue()));
    }
  }

  void Volumes() {
    const int64_t stride = 1 + p_.turn % 2, k = p_.turn % 3 == 0 ? 1 : 3;
    const std::string plain = p_.turn % 4 == 3 ? ", in=ncdhw" : "";
    Add(format("conv3d({}, f32[{},{},{},{},{}], {}{}){}", p_.Volume(), p_.out, p_.c, k, k, k, p_.Window3d(k, stride),
               plain, p_.Epilogue()));
    if (p_.c == 1) return;
    Add(format("conv3d({}, f32[{},2,3,3,3], {}, groups={}){}", p_.Volume(2 * p_.c), 3 * p_.c, p_.Window3d(3, stride),
               p_.c, p_.Epilogue()));
  }

  void Transposed() {
    const int64_t stride = 1 + p_.turn % 2;
    Add(format("conv_transpose2d({}, f32[{},{},3,3], stride={}x{}, pad={},0,{},1)", p_.Data(), p_.c, p_.out, stride,
               stride, p_.turn % 2, 1 - p_.turn % 2));
    Add(format("conv_transpose3d({}, f32[{},{},2,3,3], stride=1x{}x{}, pad=0,1,0,0,0,1)", p_.Volume(), p_.c, p_.out,
               stride, stride));
  }

  void Products() {
    Add(format("dense(f32[{},{}], f32[{},{}]){}", p_.n * p_.h, p_.c * p_.w, p_.out, p_.c * p_.w, p_.Epilogue()));
    Add(format("matmul(f32[{0},{1},{2}], f32[{0},{2},{3}])", p_.n, p_.h, p_.c, p_.w));
    Add(format("matmul(f32[{},{}], f32[{},{},{}])", p_.w, p_.h, p_.n, p_.h, p_.out));
  }

  void Pools() {
    const int64_t k = 2 + p_.turn % 2, stride = 1 + p_.turn / 2 % 2;
    const std::string more = p_.Turn<std::string>({"", ", ceil_mode=1", ""});
    for (const char* kind : {"max", "avg"}) {
      Add(format("{}_pool2d({}, kernel={}x{}, {}{})", kind, p_.Data(), k, k, p_.Window(k, k, stride), more));
      Add(format("{}_pool3d({}, kernel=3x3x3, {}{})", kind, p_.Volume(), p_.Window3d(3, stride), more));
      Add(format("global_{}_pool({})", kind, p_.turn % 2 ? p_.Data() : p_.Volume()));
    }
    Add(format("avg_pool2d({}, kernel=3x3, {}, count_include_pad=1)", p_.Data(), p_.Window(3, 3, stride)));
  }

  void Chains() {
    const int64_t stride = 1 + p_.turn % 2, k = p_.turn % 4 < 2 ? 3 : 5;
    // Extents that 3x3 windows make even, for Winograd with a pool in its tiles, and odd ones.
    const std::string conv = Conv(3, 3, p_.Window(3, 3, 1)) + p_.EpilogueOfOne();
    const TensorType made = Made(conv);
    Add(format("{} -> {}_pool2d({}, kernel=2x2, stride=2x2)", conv, p_.turn % 2 ? "max" : "avg", made.Text()));
    const std::string strided = Conv(5, 5, p_.Window(5, 5, stride)) + p_.EpilogueOfOne();
    Add(format("{} -> max_pool2d({}, kernel=3x3, {})", strided, Made(strided).Text(), p_.Window(3, 3, 2)));

    auto depthwise = [&](const TensorType& in) {
      return format("conv2d({}, f32[{},1,{},{}], {}, groups={}) + bias + relu6", in.Text(), in.shape[1], k, k,
                    p_.Window(k, k, stride), in.shape[1]);
    };
    auto pointwise = [&](const TensorType& in, int64_t out) {
      return format("conv2d({}, f32[{},{},1,1])", in.Text(), out, in.shape[1]);
    };
    const TensorType data{DType::Float(32), {p_.n, p_.c, p_.h, p_.w}};
    if (p_.c > 1) Add(depthwise(data) + " -> " + pointwise(Made(depthwise(data)), p_.out) + p_.Epilogue());
    if (p_.out == 1) return;
    const std::string wide = pointwise(data, p_.out) + " + bias", narrow = depthwise(Made(wide));
    Add(wide + " -> " + narrow);
    Add(wide + " -> " + narrow + " -> " + pointwise(Made(narrow), p_.c) + p_.Epilogue());
  }

  // One place for each way to read the tensor between two members. A product of one column has no group.
  void ComposedGroups() {
    const auto two = [](int64_t extent) { return std::max<int64_t>(extent, 2); };
    const int64_t rows = p_.n * p_.h, columns = p_.c * p_.w, out = two(p_.out);
    const std::string made = format("f32[{},{}]", rows, out), data = format("f32[{},{}]", rows, columns);
    const std::string dense = format("dense({}, f32[{},{}])", data, out, columns);
    Add(format("{} + bias -> gelu({})", dense, made));
    Add(format("t0 = {} -> t1 = sigmoid({}) -> mul(t0:{}, t1:{})", dense, made, made, made));
    Add(format("{0} -> reshape({1}, shape={2},{3},{4}) -> transpose(f32[{2},{3},{4}], perm=1,0,2)", dense, made, p_.n,
               p_.h, out));
    Add(format("mul({0}, f32[1]) -> softmax({0})", data));
    Add(format("transpose(f32[{0},{1}], perm=1,0) -> matmul(f32[{1},{0}], f32[{0},{2}])", p_.h, two(p_.c), two(p_.w)));
    const std::string conv = Conv(3, 3, p_.Window(3, 3, 1));
    if (p_.c > 1 && p_.out > 1) Add(format("{} -> hard_swish({})", conv, Made(conv).Text()));
    Add(format("tanh({0}) -> add({0}, f32[{1},1,1])", p_.Data(), p_.c));
  }

  // Three functions per cell: each occurs at least once.
  void Elementwise() {
    const std::vector<semantics::ScalarFunction>& functions = semantics::ScalarFunctions();
    for (size_t i = 0; i < 3; ++i) {
      const semantics::ScalarFunction& f = functions[(3 * static_cast<size_t>(p_.turn) + i) % functions.size()];
      const std::string second =
          p_.Turn<std::string>({p_.Data(), format("f32[{},1,1]", p_.c), format("f32[{}]", p_.w)});
      Add(format("{}({}{})", f.name, p_.Data(), f.inputs > 1 ? ", " + second : ""));
    }
  }

  void Reductions() {
    for (const std::string& name : OperatorNames()) {
      if (name.ends_with("softmax")) Add(format("{}({}, axis={})", name, p_.Data(), p_.turn % 4));
      if (!name.starts_with("reduce_")) continue;
      // A logarithm near 1 has the error of its sum, so avoid a single output near it.
      const std::string axes = p_.Turn<std::string>({", axes=1", ", axes=2,3, keep=1", ", axes=0,1", ""});
      Add(format("{}({}{})", name, p_.Data(), name == "reduce_log_sum" ? "" : axes));
    }
  }

  void Movement() {
    const std::string data = p_.Data();
    for (const char* name : {"block", "unblock", "flatten", "channels_last", "channels_first"})
      Add(format("{}({})", name, data));
    Add(format("pad2d({}, pad={},0,2,{})", data, p_.turn % 2, p_.turn % 3));
    Add(format("transpose({}, perm={})", data, p_.Turn<std::string>({"0,2,3,1", "3,1,0,2", "1,0,3,2"})));
    Add(format("reshape({}, shape={},{})", data, p_.n * p_.c, p_.h * p_.w));
    Add(format("slice({}, begin=0,{},0,{}, end={},{},{},{}, step=1,1,2,1)", data, p_.c / 2, p_.w / 3, p_.n, p_.c, p_.h,
               p_.w));
    Add(format("pad({}, low=0,1,{},2, high=1,0,3,{})", data, p_.turn % 2, p_.turn % 3));
    Add(format("gather({}, axis=1, indices={},0,{}, shape=3)", data, p_.c - 1, p_.c / 2));
    Add(format("expand(f32[{},1,{}], shape={},{},{},{})", p_.c, p_.w, p_.n, p_.c, p_.h, p_.w));
    Add(format("concat({}, {}, {})", data, p_.Data(p_.out), data));
  }

  void Norms() {
    const std::string data = p_.Data();
    Add(format("lrn({}, size={})", data, 2 + p_.turn % 4));
    Add(format("instance_norm({}, f32[{}], f32[{}])", data, p_.c, p_.c));
    Add(format("layer_norm({}, f32[{}], f32[{}])", data, p_.w, p_.w));
    Add(format("resize({}, out={},{},{},{}, mode={})", data, p_.n, p_.c, 2 * p_.h + 1, p_.w + p_.turn % 3,
               p_.Turn<std::string>({"linear", "cubic", "nearest"})));
  }

  const Place p_;
  std::vector<std::string> texts_;
  int others_ = p_.turn;
};

}  // namespace

std::vector<std::string> OddLayers() {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const Place& place : Places()) {
    for (std::string& text : Texts(place).Take()) {
      if (seen.insert(text).second) all.push_back(std::move(text));
    }
  }
  return all;
}

}  // namespace hone::op
