/* py_peer.h - marks on the parts of a text that come from a peer. Texts carry them through every operation.
 *
 * A mark is a span of bytes. Cutting, joining and padding keep the marks of the pieces; any other operation
 * marks its whole result when an operand has a mark (py_peer_like). Methods and filters that only cut and
 * join (PY_METHOD_MARKS, JF_MARKS) are exact: when no byte of a peer's is left, the result has no mark.
 * Numbers and conditions carry none, nor does the choice of a part of our own text by a peer's word. Marks
 * change no result: equal texts are equal whatever their marks.
 *
 * Layer      common/py
 * Threads    as py.h
 * Ownership  said per function
 * Tests      tests/unit/common/test_py_peer.c */
#ifndef COMMON_PY_PY_PEER_H
#define COMMON_PY_PY_PEER_H

#include "common/base/span.h"
#include "common/py/py_error.h"
#include "common/py/py_ops.h"

/* True when a str or bytes has a mark. */
bool py_is_peer(const py_t *v);
/* SPAN_OWN when all marks of a text have it, else 0. */
unsigned py_peer_flags(const py_t *v);
/* True when `v` or anything in it has a mark. */
bool py_holds_peer(const py_t *v);
/* Marks each text in `v` as a whole, keys too; with SPAN_OWN only those that are not another machine's.
 * Changes shared texts' owners: for values that were just made. NEW: `v`, which it TAKES, or another value
 * for an immutable one. */
py_t *py_peer(py_t *v, unsigned flags);
py_t *py_peer_like_(py_t *made, py_t *const *from, size_t n);
/* Marks a computed value: `made`, which it TAKES, gets a mark when it has none and one of the `n` values
 * (NULL ones are skipped) has. NULL stays NULL. */
static inline py_t *
py_peer_like(py_t *made, py_t *const *from, size_t n)
{
    return __builtin_expect(py_state.peers, 0) ? py_peer_like_(made, from, n) : made;
}
/* The marks of a text. */
void py_peer_spans(const py_t *v, spans_t *ret);
/* A text that is a peer's as a whole. NEW. */
py_t *py_str_peer(const char *text, size_t len);
/* The same for the machine that the result is for. NEW. */
py_t *py_str_own(const char *text, size_t len);
/* A text with marks. NEW. */
py_t *py_str_spans(const char *text, size_t len, const spans_t *spans);

/* ---- texts in the making ----------------------------------------------------------------------- */

/* Appends the text of a str or bytes, or a part of it, with its marks. */
void py_put(buf_t *out, const py_t *v);
void py_put_part_(buf_t *out, const py_t *v, const char *from, size_t len);
static inline void
py_put_part(buf_t *out, const py_t *v, const char *from, size_t len)
{
    if (__builtin_expect(py_state.peers, 0))
        py_put_part_(out, v, from, len);
    else
        buf_add(out, from, len);
}
/* Moves all of a buffer's bytes and marks to the end of another. */
void py_put_buf(buf_t *out, buf_t *from);
/* Marks everything added to `out` since it had `at` bytes, when `v` is a text with a mark. */
void py_put_like(buf_t *out, size_t at, const py_t *v);
/* The same when the buffer `from` has a mark. */
void py_put_as(buf_t *out, size_t at, const buf_t *from);
/* The same for text made from numbers, whose origin is unknown: when the thread has peers' data at all. */
void py_put_made(buf_t *out, size_t at);
/* NEW str, or bytes when `like` is: a part of its text. */
py_t *py_part(const py_t *like, const char *from, size_t len);
/* NEW str, or bytes when `like` is, of the buffer's bytes and marks; the buffer is empty afterwards. */
py_t *py_text_buf(const py_t *like, buf_t *text);
/* Moves the marks out of a buffer that does not become a value. */
void py_buf_spans(buf_t *text, spans_t *ret);

#endif
