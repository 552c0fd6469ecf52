#include "plugin/plugin.h"

HONE_SKETCH_RULE(hollow) {}
