#include "measure/kernel.h"

#include "base/fields.h"

namespace hone {

static void ListFields(Fields* f, ArgSource* arg) {
  bool prepared = arg->kind == ArgSource::Kind::kPrepared;
  f->Value("prepared", &prepared);
  arg->kind = prepared ? ArgSource::Kind::kPrepared : ArgSource::Kind::kOperand;
  f->Value("index", &arg->index);
}

static void ListFields(Fields* f, PreparedConstant* p) {
  f->Value("name", &p->name);
  f->As(
      "type", &p->type, [](DType type) { return ToString(type); }, ParseDType);
  f->Value("elements", &p->elements);
}

void ListFields(Fields* f, Operand* o) {
  int role = static_cast<int>(o->role);
  f->Value("name", &o->name);
  f->Value("role", &role).In(0, 2);
  f->As(
      "type", &o->logical.type, [](DType type) { return ToString(type); }, ParseDType);
  f->Value("logical", &o->logical.shape);
  f->Value("physical", &o->physical);
  f->Choice("layout", &o->layout, kLayoutNames);
  o->role = static_cast<OperandRole>(role);
}

}  // namespace hone

namespace hone::measure {
namespace {

// The entries are sent in the artifact's own text form.
std::string EntryText(const EntryPoint& entry) { return EntriesText({entry}); }

Result<EntryPoint> ParseEntryText(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(std::vector<EntryPoint> entries, ParseEntries(text));
  if (entries.size() != 1) return Status::Invalid("expected one entry point");
  return std::move(entries[0]);
}

Status CheckArgsOf(const EntryPoint& entry, const std::vector<ArgSource>& args, const BuiltKernel& kernel,
                   const std::vector<Operand>& operands) {
  if (entry.args.size() != args.size()) {
    return Status::Invalid("{} takes {} arguments, {} are described", entry.symbol, entry.args.size(), args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const bool prepared = args[i].kind == ArgSource::Kind::kPrepared;
    const size_t count = prepared ? kernel.prepared.size() : operands.size();
    if (args[i].index < 0 || static_cast<size_t>(args[i].index) >= count) {
      return Status::Invalid("{}: argument {} refers to nothing", entry.symbol, i);
    }
    const size_t index = static_cast<size_t>(args[i].index);
    const int64_t elements = prepared ? kernel.prepared[index].elements : operands[index].PhysicalElements();
    const DType type = prepared ? kernel.prepared[index].type : operands[index].logical.type;
    if (entry.args[i].elements != elements || entry.args[i].type != type) {
      return Status::Invalid("{}: argument {} ({}) is {} of {}, expected {} of {}", entry.symbol, i, entry.args[i].name,
                             entry.args[i].elements, ToString(entry.args[i].type), elements, ToString(type));
    }
  }
  return Status();
}

}  // namespace

void ListFields(Fields* f, BuiltKernel* k) {
  HONE_VALUES(f, k->format, k->path, k->artifact_digest);
  f->As("kernel", &k->kernel, EntryText, ParseEntryText);
  HONE_VALUES(f, k->kernel_args, k->has_prepare);
  f->As("prepare", &k->prepare, EntryText, ParseEntryText);
  HONE_VALUES(f, k->prepare_args, k->prepared, k->steps, k->arithmetic, k->rounding, k->compile_seconds);
}

Status CheckArgs(const BuiltKernel& kernel, const std::vector<Operand>& operands) {
  HONE_RETURN_IF_ERROR(CheckArgsOf(kernel.kernel, kernel.kernel_args, kernel, operands));
  return kernel.has_prepare ? CheckArgsOf(kernel.prepare, kernel.prepare_args, kernel, operands) : Status();
}

}  // namespace hone::measure
