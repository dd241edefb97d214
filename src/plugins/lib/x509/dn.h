/* dn.h - distinguished names (X.501) from what users write, to and from DER and RFC 4514.
 *
 * A name is a JSON list of relative names, each a list of attributes: [[["2.5.4.6", "US"]], [["2.5.4.3",
 * "www"]]].
 *
 * Layer      plugins/lib/x509
 * Ownership  results are NEW
 * Errors     NULL with *err in Salt's words
 * Tests      tests/cases/exec/x509.*.json
 */
#ifndef PLUGINS_LIB_X509_DN_H
#define PLUGINS_LIB_X509_DN_H

#include "plugins/lib/x509/der.h"

/* A text by RFC 4514, a list of such relative names, or an object with C, ST, L, STREET, O, OU, CN, MAIL, SN,
 * GN, UID, SERIALNUMBER, of which other members are no matter. */
json_t *dn_make(const json_t *spec, fail_t *err);
/* One relative name: [["2.5.4.3", "www"], ...]. */
json_t *dn_make_relative(const char *text, fail_t *err);
/* Appends the Name, and a RelativeDistinguishedName with the tag. */
void dn_write(const json_t *name, buf_t *out);
void dn_write_relative(const json_t *attributes, uint8_t tag, buf_t *out);
/* The content of a Name (behind its tag); NULL: it is none. */
json_t *dn_read(der_t body);
json_t *dn_read_relative(der_t body);
/* True when they are the same: the attributes of a relative name are a set. */
bool dn_equal(const json_t *a, const json_t *b);
/* RFC 4514. */
char *dn_text(const json_t *name);
/* {"C": ..., "CN": ...}: the first of each kind. */
json_t *dn_dict(const json_t *name);
/* The first common name, BORROWED; NULL: none. */
const char *dn_common(const json_t *name);
/* Salt's long names of arguments ("commonName") are made short ones ("CN"). */
void dn_short_names(json_t *kwargs);
/* True when the object has one of C, ST, ... */
bool dn_given(const json_t *kwargs);

#endif
