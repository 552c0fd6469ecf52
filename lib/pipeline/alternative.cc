#include "pipeline/alternative.h"

#include "base/fields.h"

namespace hone::pipeline {

static void ListFields(Fields* f, AlternativeNode* node) {
  f->Value("name", &node->name);
  f->Value("workload", &node->workload);
  f->Value("inputs", &node->inputs);
}

void ListFields(Fields* f, Alternative* alternative) {
  f->Value("replaces", &alternative->replaces).Check(!alternative->replaces.empty(), "names no node");
  f->Value("by", &alternative->by).Check(!alternative->by.empty(), "names no node");
}

}  // namespace hone::pipeline
