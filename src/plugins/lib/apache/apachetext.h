/* apachetext.h - Apache's configuration from data, as Salt's apache.config writes it.
 *
 * Layer      plugins/lib/apache
 * Tests      tests/cases/exec/apache.config.json
 */
#ifndef PLUGINS_LIB_APACHE_APACHETEXT_H
#define PLUGINS_LIB_APACHE_APACHETEXT_H

#include "common/base/buf.h"
#include "salt/value.h"

/* Appends one directive or section. `conf` is a text (its arguments), a list (one directive per item; a
 * section when an item has the key "this"), or an object (a section, whose key "this" is the argument). Other
 * values are left out, as in Salt. A negative errno with *err for a section without "this", or one nested
 * deeper than values may be. */
int apachetext_add(buf_t *out, const char *name, const json_t *conf, int depth, fail_t *err);

#endif
