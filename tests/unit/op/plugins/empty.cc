#include "op/plugin.h"

HONE_OPERATOR(hollow) {}
