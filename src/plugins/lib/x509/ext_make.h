/* ext_make.h - each extension's value from what users write. Private to ext.c and its parts.
 *
 * `v` is what the user wrote, `about` what the document is of. Each appends the value's DER to `out` and says
 * whether the extension is critical.
 *
 * Layer      plugins/lib/x509
 * Errors     negative with *err in Salt's words
 */
#ifndef PLUGINS_LIB_X509_EXT_MAKE_H
#define PLUGINS_LIB_X509_EXT_MAKE_H

#include "plugins/lib/x509/ext.h"

typedef int ext_make_fn(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err);
ext_make_fn make_basic, make_key_usage, make_extended, make_skid, make_akid, make_issuer_names, make_access,
    make_subject_names, make_points, make_issuing_point, make_policies, make_policy_constraints, make_inhibit,
    make_name_constraints, make_no_check, make_features, make_comment, make_cert_type, make_number,
    make_delta, make_freshest, make_reason, make_date;

/* A number that is not negative, from a number or text. */
int ext_number(const json_t *v, const char *what, json_int_t *ret_n, fail_t *err);

#endif
