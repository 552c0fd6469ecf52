#include <stdexcept>

#include "plugin/plugin.h"

HONE_OPERATOR(thrower) { throw std::runtime_error("no memory for a pony"); }
