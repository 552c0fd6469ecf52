#include "plugin/plugin.h"

HONE_OPERATOR(hollow) {}
