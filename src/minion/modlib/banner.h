/* banner.h - slsutil.banner: a block of comment.
 *
 * Layer      minion/modlib
 * Tests      tests/cases/modules/slsutil.banner.json
 */
#ifndef MINION_MODLIB_BANNER_H
#define MINION_MODLIB_BANNER_H

#include "common/py/py_ops.h"

/* `args` is the dict of slsutil.banner's arguments. NEW str, or NULL raised. */
py_t *banner_text(py_t *args);

#endif
