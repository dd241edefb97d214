/* der.h - DER (X.690), as far as certificates need it: appending to a buffer, and a bounded reader.
 *
 * Layer      plugins/lib/x509
 * Ownership  a der_t is BORROWED from the bytes that were read
 * Errors     false: the bytes are not that
 * Tests      tests/cases/exec/x509.*.json
 */
#ifndef PLUGINS_LIB_X509_DER_H
#define PLUGINS_LIB_X509_DER_H

#include "common/base/buf.h"
#include "salt/value.h"

enum {
    DER_BOOL = 0x01,
    DER_INT = 0x02,
    DER_BITS = 0x03,
    DER_OCTETS = 0x04,
    DER_NULL = 0x05,
    DER_OID = 0x06,
    DER_ENUM = 0x0a,
    DER_UTF8 = 0x0c,
    DER_PRINTABLE = 0x13,
    DER_T61 = 0x14,
    DER_IA5 = 0x16,
    DER_UTC = 0x17,
    DER_GENERAL = 0x18,
    DER_BMP = 0x1e,
    DER_SEQ = 0x30,
    DER_SET = 0x31
};
#define DER_CTX(n)  (uint8_t)(0x80 | (n)) /* context-specific, primitive */
#define DER_CTXC(n) (uint8_t)(0xa0 | (n)) /* the same, constructed */

/* ---- writing: everything appends ---------------------------------------------------------------- */

/* What is appended between both calls becomes the value: at = der_begin(b, DER_SEQ); ... der_end(b, at). */
size_t der_begin(buf_t *b, uint8_t tag);
void der_end(buf_t *b, size_t at);
void der_put(buf_t *b, uint8_t tag, const void *bytes, size_t len);
void der_text(buf_t *b, uint8_t tag, const char *text);
void der_int(buf_t *b, uint8_t tag, json_int_t v);
/* A number that is not negative, from its bytes. */
void der_number(buf_t *b, uint8_t tag, const uint8_t *bytes, size_t len);
void der_true(buf_t *b, uint8_t tag);
/* "1.2.840"; false: not an OID. */
bool der_oid(buf_t *b, uint8_t tag, const char *dotted);
/* A list of named bits, without zeros at its end; bit i of `flags` is the i-th name. */
void der_named_bits(buf_t *b, uint8_t tag, unsigned flags);
/* UTCTime until 2049, then GeneralizedTime (RFC 5280). */
void der_time(buf_t *b, int64_t seconds);

/* ---- reading ------------------------------------------------------------------------------------- */

typedef struct der {
    const uint8_t *p;
    size_t len;
} der_t;

/* Takes the next value off `in`; *ret_whole (may be NULL) is it with tag and length. */
bool der_next(der_t *in, uint8_t *ret_tag, der_t *ret_body, der_t *ret_whole);
/* The same when it has this tag; otherwise `in` stays. */
bool der_take(der_t *in, uint8_t tag, der_t *ret_body);
/* NEW "1.2.840", or NULL. */
char *der_oid_text(der_t body);
/* An integer's value; false when it does not fit. */
bool der_to_int(der_t body, json_int_t *ret_v);
/* The bits of a BIT STRING of named bits. */
bool der_to_bits(der_t body, unsigned *ret_flags);
bool der_to_time(uint8_t tag, der_t body, int64_t *ret_seconds);
/* A text of any of ASN.1's kinds as UTF-8. NEW, or NULL. */
json_t *der_to_text(uint8_t tag, der_t body);

/* NEW lower-case hexadecimal, and back: appends, colons left out; false for anything else. */
char *der_hex(const void *bytes, size_t len);
/* NEW decimal digits of a number that is not negative. */
char *der_decimal(const void *bytes, size_t len);
bool der_unhex(const char *hex, buf_t *out);
/* NEW "0A:FF". */
char *der_pretty(const void *bytes, size_t len);
/* NEW "2026-01-31 10:00:00", and back. */
char *der_time_text(int64_t seconds);
bool der_time_parse(const char *text, int64_t *ret_seconds);

#endif
