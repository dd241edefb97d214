/* quiet.c - outputter `quiet`: nothing at all. */
#include "common/output/outputter.h"

bool
output_quiet(json_t *data, const output_opts_t *opts, buf_t *out)
{
    return true;
}
