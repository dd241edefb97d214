/* mailtext.h - a mail as text: header lines, whatever is in their values, and a body that every server takes.
 *
 * A value is one line of the header: line breaks in it become spaces, so that none begins a line of its own,
 * and one that is not ASCII or too long becomes encoded words. A body that is not ASCII, or has lines too
 * long for SMTP, goes as base64.
 *
 * Layer      plugins/lib/returner
 * Threads    any
 * Source     RFC 5322 (lines), RFC 2047 (encoded words), RFC 2045 (base64), RFC 5321 (998 bytes a line)
 * Tests      tests/unit/plugins/test_mailtext.c
 */
#ifndef PLUGINS_LIB_RETURNER_MAILTEXT_H
#define PLUGINS_LIB_RETURNER_MAILTEXT_H

#include "common/base/buf.h"

/* Appends "Name: value" and its line break. */
void mailtext_header(buf_t *out, const char *name, const char *value);
/* The same for one address, "a@b" or "Name <a@b>", or several with commas between them. */
void mailtext_addresses(buf_t *out, const char *name, const char *addresses);
/* The line Date, of a time in seconds, as this host's clock shows it. */
void mailtext_date(buf_t *out, int64_t wall_s);
/* Ends the header, and appends the text with CR LF. */
void mailtext_body(buf_t *out, const char *text, size_t len);
/* "a@b" of an address for the envelope, NEW; NULL when it is none: empty, with white space or control
 * characters. */
char *mailtext_bare(const char *address);

#endif
