/* ifopts.h - settings of an interface in ifcfg.h's files, checked part by part.
 *
 * Layer      plugins/lib/net
 * Threads    a job's child
 * Ownership  options are put into `out`; results are NEW
 * Errors     Salt's AttributeErrors: which interface, which option, what it may be
 * Tests      tests/cases/exec/ip.build_interface.json
 */
#ifndef PLUGINS_LIB_NET_IFOPTS_H
#define PLUGINS_LIB_NET_IFOPTS_H

#include "plugins/lib/net/ifcfg.h"

/* State that all parts share. All BORROWED. */
typedef struct ifopts {
    call_ctx_t *ctx;
    const ifcfg_family_t *family;
    const char *iface, *type;
    json_t *settings, *out;
    bool test;
    fail_t *err;
} ifopts_t;

/* ip.build_interface: checks the settings, and writes the file, or tells it. */
int ifopts_build(call_ctx_t *ctx, const ifcfg_family_t *family, const json_t *args, json_t **ret_value,
                 fail_t *err);
/* ethtool's words, and a bond's: {word: value} in their order; NULL with *err. */
json_t *ifopts_ethtool(const ifopts_t *self);
json_t *ifopts_bond(const ifopts_t *self);

/* "Invalid option -- Interface: ...", the option named by its name, or by the value that is refused. Returns
 * false. */
bool ifopts_bad(const ifopts_t *self, const char *option, const char *expected);
bool ifopts_bad_value(const ifopts_t *self, const json_t *value, const char *expected);

#endif
