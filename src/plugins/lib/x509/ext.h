/* ext.h - extensions of certificates, requests and lists (RFC 5280) from what users write, and shown as Salt
 * shows them.
 *
 * An extension is {"oid", "critical", "value": its DER in hexadecimal}. Users write OpenSSL's notation
 * ("critical CA:true, pathlen:0"), lists or mappings.
 *
 * Layer      plugins/lib/x509
 * Ownership  results are NEW
 * Errors     NULL with *err in Salt's words
 * Tests      tests/cases/exec/x509.*.json
 */
#ifndef PLUGINS_LIB_X509_EXT_H
#define PLUGINS_LIB_X509_EXT_H

#include "plugins/lib/x509/xdoc.h"

enum {
    EXT_CERT = 1 << 0,
    EXT_CRL = 1 << 1,
    EXT_NO_CSR = 1 << 2, /* not in requests, and not taken over from them */
    EXT_ENTRY = 1 << 3   /* of an entry of a revocation list */
};

/* What the extensions are of. */
typedef struct ext_about {
    der_t spki;            /* the subject's key; len 0: none */
    const xdoc_t *ca;      /* NULL: self-signed, or none */
    der_t ca_spki;         /* of a self-signed one; len 0: none */
    const buf_t *own_name; /* of a self-signed one: its name (DER) and serial number */
    const buf_t *own_serial;
} ext_about_t;

typedef struct ext_row {
    const char *name, *oid;
    const char *shown; /* cryptography's name */
    unsigned flags;
    int (*make)(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err);
    /* Adds to {"critical": ...}; false: the bytes are none of this. */
    bool (*show)(der_t der, json_t *into);
    const char *longer[2];
} ext_row_t;

extern const ext_row_t ext_rows[];
extern const size_t ext_rows_n;

/* NEW extension of the row. */
json_t *ext_make(const ext_row_t *row, const json_t *v, const ext_about_t *about, fail_t *err);
/* Makes those that `kwargs` has, for documents of the kind (EXT_CERT, EXT_CRL, EXT_ENTRY) except `unless`.
 * NEW list. */
json_t *ext_make_all(const json_t *kwargs, unsigned kind, unsigned unless, const ext_about_t *about,
                     fail_t *err);
/* Appends SEQUENCE OF Extension. */
void ext_write(const json_t *list, buf_t *out);
/* {"basicConstraints": {"critical": ..., ...}, ...}. */
json_t *ext_show_all(const json_t *list, unsigned entry);
/* {"added": [names], "changed": [...], "removed": [...]}; NULL when they are equal. */
json_t *ext_compare(const json_t *now, const json_t *wanted);
bool ext_same(const json_t *a, const json_t *b);
/* "X509v3 Basic Constraints" and others are made "basicConstraints". */
void ext_short_names(json_t *kwargs);

/* general names, ext_names.c: pairs are [["DNS", "www"], ...]. */
json_t *gn_pairs(const json_t *v, bool *critical);
/* ["DNS", "www"] of "DNS:www". */
json_t *gn_pair(const char *text);
int gn_write_all(const json_t *pairs, buf_t *out, fail_t *err);
int gn_write(const char *kind, const json_t *v, buf_t *out, fail_t *err);
/* "DNS:www", ...: the content of GeneralNames. NULL: it is none. */
json_t *gn_show(der_t in);
/* OpenSSL's notation to [["CA", "true"], ...]; "__present__" where there is no value. */
json_t *conf_pairs(const char *text, bool *critical);
/* The word "critical" in a text, list or mapping, as Python's `in` finds it. */
bool conf_has(const json_t *v, const char *word);

/* ext_show.c */
bool show_basic(der_t der, json_t *into), show_key_usage(der_t der, json_t *into),
    show_extended(der_t der, json_t *into), show_skid(der_t der, json_t *into),
    show_akid(der_t der, json_t *into), show_names(der_t der, json_t *into),
    show_access(der_t der, json_t *into), show_points(der_t der, json_t *into),
    show_policies(der_t der, json_t *into), show_policy_constraints(der_t der, json_t *into),
    show_number(der_t der, json_t *into), show_name_constraints(der_t der, json_t *into),
    show_no_check(der_t der, json_t *into), show_features(der_t der, json_t *into),
    show_reason(der_t der, json_t *into), show_date(der_t der, json_t *into),
    show_issuing_point(der_t der, json_t *into);

/* Names of bits and OIDs that both directions know; both end with NULL. */
extern const char *const key_usages[], *const reasons[];
typedef struct oid_name {
    const char *name, *oid;
} oid_name_t;
extern const oid_name_t extended_usages[], access_methods[];
const char *oid_by_name(const oid_name_t *table, const char *name);
const char *oid_name_of(const oid_name_t *table, const char *oid);

#endif
