/* banner.h - slsutil.banner: a block of comment.
 *
 * Layer      plugins/lib/call
 * Tests      tests/cases/exec/slsutil.banner.json
 */
#ifndef PLUGINS_LIB_CALL_BANNER_H
#define PLUGINS_LIB_CALL_BANNER_H

#include "common/py/py_ops.h"

/* `args` is the dict of slsutil.banner's arguments. NEW str, or NULL raised. */
py_t *banner_text(py_t *args);

#endif
