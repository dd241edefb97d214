/* raw.c - outputter `raw`: the data as Python's str() shows it. */
#include "common/output/outputter.h"

bool
output_raw(json_t *data, const output_opts_t *opts, buf_t *out)
{
    output_str(out, data);
    return true;
}
