/* figures.h - lines of /metrics, for parts that have figures of their own (part.h: `figures`).
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/6340-api-metrics.bats
 */
#ifndef MASTER_FRONT_FIGURES_H
#define MASTER_FRONT_FIGURES_H

#include "common/base/buf.h"
#include "salt/base.h"

enum { FIGURES_LABEL_MAX = 100 };

/* True when `name` may be a label's value as it is: letters, digits and _.-:/@, at most FIGURES_LABEL_MAX. */
bool figures_label(const char *name);
/* The lines # HELP and # TYPE, once before all rows of a name. */
void figures_head(buf_t *out, const char *name, const char *type, const char *help);
/* The same and the one row of a name without labels. */
void figures_add_one(buf_t *out, const char *name, const char *type, const char *help, double value);

#endif
