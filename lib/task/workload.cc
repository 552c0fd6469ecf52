#include "task/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/text.h"

namespace hone {
namespace {

constexpr const char* kEpilogues[] = {"bias", "add", "relu", "relu6", "clip", "requant", "shift"};  // by EpilogueKind

// A cursor over the text; every error says what was expected and at which column.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Result<Workload> Run() {
    HONE_ASSIGN_OR_RETURN(Workload w, One());
    while (TakeArrow()) {
      if (w.then.size() == Workload::kMostFollowers) {
        return Fail(fmt::format("the end: a group has at most {} members", Workload::kMostFollowers + 1));
      }
      HONE_ASSIGN_OR_RETURN(Workload next, One());
      if (next.inputs.empty()) return Fail("a member of a group that takes the output of the one before it");
      w.then.push_back(std::move(next));
    }
    Space();
    if (at_ != text_.size()) return Fail("the end, `+ epilogue` or `-> workload`");
    return CheckRead(w);
  }

 private:
  struct Member {
    std::string name;  // may be empty
    size_t begin = 0;
  };

  Result<Workload> CheckRead(const Workload& w) {
    std::vector<bool> read(members_.size(), false);
    for (size_t i = 1; i < members_.size(); ++i) {
      for (size_t j = 0; j < w.then[i - 1].inputs.size(); ++j) {
        if (const int maker = w.Maker(i, j); maker >= 0) read[static_cast<size_t>(maker)] = true;
      }
    }
    read.back() = true;
    const size_t unread = static_cast<size_t>(std::find(read.begin(), read.end(), false) - read.begin());
    if (unread == read.size()) return w;
    at_ = members_[unread].begin;
    return Fail("a member whose output a later one reads");
  }

  // A workload that is not a group, or a member of a group.
  Result<Workload> One() {
    Space();
    Member self{"", at_};
    Workload w;
    w.op = Word();
    if (w.op.empty()) return Fail("an operator's name");
    if (Take('=')) {
      self.name = w.op;
      if (FindMember(self.name) >= 0) return Fail("another name: a member before it is named `" + self.name + "`");
      w.op = Word();
      if (w.op.empty()) return Fail("an operator's name");
    }
    if (!Take('(')) return Fail("`(` after the operator");
    bool in_inputs = true;
    while (!Take(')')) {
      if ((!w.inputs.empty() || !w.attributes.empty()) && !Take(',')) return Fail("`,` or `)`");
      const size_t start = at_;
      const std::string name = Word();
      if (name.empty()) return Fail("a tensor such as f32[1,64] or an attribute such as stride=1x1");
      if (Take('[')) {
        if (!in_inputs) return Fail("tensors before attributes");
        at_ = start;
        HONE_ASSIGN_OR_RETURN(TensorType t, Tensor());
        w.inputs.push_back(std::move(t));
        w.from.push_back(Workload::kOperand);
      } else if (Take(':')) {
        const int maker = FindMember(name);
        at_ = maker < 0 ? start : at_;
        if (maker < 0) return Fail("the name of an earlier member, not `" + name + "`");
        if (!in_inputs) return Fail("tensors before attributes");
        HONE_ASSIGN_OR_RETURN(TensorType t, Tensor());
        w.inputs.push_back(std::move(t));
        w.from.push_back(maker);
      } else if (Take('=')) {
        in_inputs = false;
        HONE_ASSIGN_OR_RETURN(Attribute a, Value(name));
        if (w.Find(name)) return Fail("attribute `" + name + "` only once");
        w.attributes.push_back(std::move(a));
      } else {
        return Fail("`[` or `=` after `" + name + "`");
      }
    }
    const auto made = [](int maker) { return maker != Workload::kOperand; };
    const bool only_first = !w.from.empty() && w.from[0] + 1 == std::ssize(members_) &&
                            std::none_of(w.from.begin() + 1, w.from.end(), made);
    if (only_first || std::none_of(w.from.begin(), w.from.end(), made)) w.from.clear();
    members_.push_back(std::move(self));
    while (Take('+')) {
      HONE_ASSIGN_OR_RETURN(EpilogueOp e, Epilogue());
      w.epilogue.push_back(e);
    }
    return w;
  }
  int FindMember(const std::string& name) const {
    for (size_t i = 0; i < members_.size(); ++i) {
      if (!name.empty() && members_[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  bool TakeArrow() {
    Space();
    if (text_.compare(at_, 2, "->") != 0) return false;
    at_ += 2;
    return true;
  }
  Status Fail(const std::string& expected) const {
    return Status::Invalid("workload `{}`: column {}: expected {}", text_, at_ + 1, expected);
  }
  void Space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(char c) {
    Space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string Word() {
    Space();
    const size_t begin = at_;
    if (at_ < text_.size() && !std::isalpha(static_cast<unsigned char>(text_[at_]))) return "";
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  Result<double> Real() {
    Space();
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view("0123456789+-.e").find(text_[at_]) != std::string_view::npos) ++at_;
    Result<double> value = ParseDouble(text_.substr(begin, at_ - begin));
    if (!value.ok()) return Fail("a number");
    return value;
  }
  Result<int64_t> Integer() {
    Space();
    const size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    Result<int64_t> value = ParseInt(text_.substr(begin, at_ - begin));
    if (!value.ok()) return Fail("a whole number");
    return value;
  }
  Result<TensorType> Tensor() {
    TensorType t;
    const std::string type = Word();
    Result<DType> dtype = ParseDType(type);
    if (!dtype.ok()) return Fail("an element type such as f32, not `" + type + "`");
    t.type = *dtype;
    if (!Take('[')) return Fail("`[`");
    if (Take(']')) return t;
    do {
      HONE_ASSIGN_OR_RETURN(int64_t extent, Integer());
      if (extent < 1) return Fail("an extent of at least 1");
      t.shape.push_back(extent);
    } while (Take(','));
    if (!Take(']')) return Fail("`]`");
    return t;
  }
  // Whether `inf` is at this place and does not begin a longer word or an attribute.
  bool InfinityAt(size_t at) const {
    if (text_.compare(at, 3, "inf") != 0) return false;
    const char behind = at + 3 < text_.size() ? text_[at + 3] : ')';
    return !std::isalnum(static_cast<unsigned char>(behind)) && behind != '_' && behind != '=';
  }
  // The end of a list of numbers that contains one with a point or an exponent, or an infinity after a sign or a comma;
  // 0 if there is no such list here.
  size_t EndOfReals() const {
    size_t end = at_;
    bool real = false;
    while (end < text_.size()) {
      if (InfinityAt(end)) {
        real = true;
        end += 3;
        continue;
      }
      if (std::string_view("0123456789+-.e,").find(text_[end]) == std::string_view::npos) break;
      if (text_[end] == '.' || text_[end] == 'e') real = true;
      if (text_[end] == ',' && (end + 1 == text_.size() || text_[end + 1] == ' ')) break;
      ++end;
    }
    return real ? end : 0;
  }
  // Numbers separated all by ',' or all by 'x'; a ',' before a word ends the attribute instead.
  Result<Attribute> Value(const std::string& name) {
    Attribute a;
    a.name = name;
    Space();
    if (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_]))) {
      a.word = Word();
      return a;
    }
    if (const size_t end = EndOfReals(); end > at_) {
      // Fractional numbers keep their own text (semantics/attributes.h parses them).
      for (size_t begin = at_; at_ < end; begin = ++at_) {
        at_ = std::min(text_.find(',', begin), end);
        const Result<double> value = ParseReal(std::string_view(text_).substr(begin, at_ - begin));
        if (!value.ok()) return Fail("a number");
        a.word += (a.word.empty() ? "" : ",") + FormatDouble(*value);
      }
      at_ = end;
      return a;
    }
    HONE_ASSIGN_OR_RETURN(int64_t first, Integer());
    a.values.push_back(first);
    const char c = at_ < text_.size() ? text_[at_] : ')';
    a.separator = c == 'x' ? 'x' : ',';
    while (at_ + 1 < text_.size() && text_[at_] == a.separator &&
           (std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) || text_[at_ + 1] == '-')) {
      ++at_;
      HONE_ASSIGN_OR_RETURN(int64_t value, Integer());
      a.values.push_back(value);
    }
    return a;
  }
  Result<EpilogueOp> Epilogue() {
    const std::string word = Word();
    const auto found = std::find(std::begin(kEpilogues), std::end(kEpilogues), word);
    if (found == std::end(kEpilogues))
      return Fail("an epilogue: bias, add, add(type), relu, relu6, clip(low,high), requant(type) or shift(type)");
    EpilogueOp e{static_cast<EpilogueKind>(found - std::begin(kEpilogues))};
    const bool adds = e.kind == EpilogueKind::kAdd;
    if (adds || e.kind == EpilogueKind::kRequant || e.kind == EpilogueKind::kShift) {
      if (!Take('(')) {
        if (adds) return e;
        return Fail(word + "(u8) or " + word + "(i8)");
      }
      const Result<DType> type = ParseDType(Word());
      if (!type.ok() || type->bits != 8 || !type->is_scalar() || type->is_float()) return Fail("u8 or i8");
      if (!Take(')')) return Fail(fmt::format("`)` after {}({}", word, ToString(*type)));
      e.type = *type;
      return e;
    }
    if (e.kind != EpilogueKind::kClip) return e;
    if (!Take('(')) return Fail("clip(low,high)");
    HONE_ASSIGN_OR_RETURN(e.low, Real());
    if (!Take(',')) return Fail("`,` in clip(low,high)");
    HONE_ASSIGN_OR_RETURN(e.high, Real());
    if (!Take(')')) return Fail("`)` after clip(low,high");
    if (e.low > e.high) return Fail("clip(low,high) with low at most high");
    return e;
  }

  const std::string& text_;
  size_t at_ = 0;
  std::vector<Member> members_;  // those that were read
};

std::string NumbersText(const std::vector<int64_t>& values, char separator) {
  return fmt::format("{}", fmt::join(values, std::string(1, separator)));
}

std::string EpilogueText(const EpilogueOp& e) {
  const std::string word = kEpilogues[static_cast<size_t>(e.kind)];
  if (!e.type.is_float()) return fmt::format("{}({})", word, ToString(e.type));
  if (e.kind != EpilogueKind::kClip) return word;
  return fmt::format("{}({},{})", word, FormatDouble(e.low), FormatDouble(e.high));
}

// Without its epilogue and later members.
std::string OwnAnchorText(const Workload& w) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    const bool named = i < w.from.size() && w.from[i] != Workload::kOperand;
    parts.push_back((named ? fmt::format("t{}:", w.from[i]) : "") + w.inputs[i].Text());
  }
  for (const Attribute& a : w.attributes) {
    parts.push_back(a.name + "=" + (a.word.empty() ? NumbersText(a.values, a.separator) : a.word));
  }
  return w.op + "(" + Join(parts, ", ") + ")";
}

// The text of all members, each by `text`, with names for those that are read by name; `stop`: without that member and
// all later ones.
std::string GroupText(const Workload& w, std::string (*text)(const Workload&), size_t stop) {
  std::string all;
  for (size_t i = 0; i < stop; ++i) {
    const auto reads = [&](const Workload& later) {
      return std::find(later.from.begin(), later.from.end(), static_cast<int>(i)) != later.from.end();
    };
    if (i > 0) all += " -> ";
    if (std::any_of(w.then.begin(), w.then.end(), reads)) all += fmt::format("t{} = ", i);
    all += text(i == 0 ? w : w.then[i - 1]);
  }
  return all;
}

std::string MemberText(const Workload& w) {
  std::string text = OwnAnchorText(w);
  for (const EpilogueOp& e : w.epilogue) text += " + " + EpilogueText(e);
  return text;
}

}  // namespace

int64_t TensorType::Elements() const {
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  return n;
}

std::string TensorType::Text() const { return ToString(type) + "[" + NumbersText(shape, ',') + "]"; }

std::string Workload::AnchorText() const { return GroupText(*this, OwnAnchorText, 1 + then.size()); }

std::string Workload::Text() const { return GroupText(*this, MemberText, 1 + then.size()); }

size_t Workload::ColumnOf(size_t member) const {
  return member == 0 ? 1 : GroupText(*this, MemberText, member).size() + std::string_view(" -> ").size() + 1;
}

int Workload::Maker(size_t member, size_t input) const {
  if (member == 0) return kOperand;
  const std::vector<int>& makers = then[member - 1].from;
  if (!makers.empty()) return makers[input];
  return input == 0 ? static_cast<int>(member) - 1 : kOperand;
}

std::vector<Workload> Workload::Parts() const {
  std::vector<Workload> parts = {*this};
  parts[0].then.clear();
  parts.insert(parts.end(), then.begin(), then.end());
  for (Workload& part : parts) part.from.clear();
  return parts;
}

std::string Workload::OperatorText() const {
  std::string text = op;
  for (const Workload& next : then) text += "_" + next.op;
  return text;
}

Result<Workload> Workload::Parse(const std::string& text) { return Parser(text).Run(); }

const Attribute* Workload::Find(const std::string& name) const {
  for (const Attribute& a : attributes) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

std::vector<int64_t> Workload::Numbers(const std::string& name, const std::vector<int64_t>& fallback) const {
  const Attribute* a = Find(name);
  return a && a->word.empty() ? a->values : fallback;
}

bool Workload::HasEpilogue(EpilogueKind kind) const {
  return std::any_of(epilogue.begin(), epilogue.end(), [kind](const EpilogueOp& e) { return e.kind == kind; });
}

std::string TaskId(const Workload& workload, const std::string& target_text) {
  return workload.OperatorText() + "-" + Digest128(workload.Text() + "|" + target_text).Hex().substr(0, 16);
}

}  // namespace hone
