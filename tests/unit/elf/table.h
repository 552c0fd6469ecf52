// A table of data as network libraries have them.
#pragma once

#include <string>

#include "codegen/elf/data_object.h"

namespace hone::codegen {

// An object whose symbol `table` is {7, a pointer to "text", a pointer to the symbol `other`}.
inline std::string TableObject(const std::string& triple, const std::string& other) {
  DataObjectWriter writer;
  const uint64_t text = writer.String("text");
  writer.AlignTo(8);
  const uint64_t table = writer.size();
  writer.Add(uint64_t{7});
  writer.Add(DataObjectWriter::To{text});
  writer.Add(DataObjectWriter::ToSymbol{other});
  return *writer.Finish("table", table, triple);
}

}  // namespace hone::codegen
