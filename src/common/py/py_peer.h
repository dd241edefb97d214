/* py_peer.h - which parts of a text a peer said: marks that texts carry through everything that is made of
 * them.
 *
 * A mark is a span of bytes. A text made of another by cutting, joining and padding has the marks of its
 * pieces; one made by anything else is marked as a whole when something it was made of has a mark
 * (py_peer_like), except by the methods and filters that cut and join only (PY_METHOD_MARKS, JF_MARKS): where
 * they leave no byte of a peer's, nothing is a peer's. Numbers and conditions carry none, and which part of
 * our own text a peer's word cuts off is one of these. Marks change no result: equal texts are equal whatever
 * their marks.
 *
 * Layer      common/py
 * Threads    as py.h
 * Ownership  said per function
 * Tests      tests/unit/common/test_py_peer.c
 */
#ifndef COMMON_PY_PY_PEER_H
#define COMMON_PY_PY_PEER_H

#include "common/base/span.h"
#include "common/py/py_error.h"
#include "common/py/py_ops.h"

/* Whether a str or bytes has a mark. */
bool py_is_peer(const py_t *v);
/* SPAN_OWN when all marks of a text have it, else 0. */
unsigned py_peer_flags(const py_t *v);
/* Whether what `v` holds, at any depth, has a mark. */
bool py_holds_peer(const py_t *v);
/* Marks each text in `v` as a whole, keys too; with SPAN_OWN those that another machine did not say.
 * Changes what is shared: for values that were just made. NEW: `v`, which it TAKES, or for an immutable
 * value another one. */
py_t *py_peer(py_t *v, unsigned flags);
py_t *py_peer_like_(py_t *made, py_t *const *from, size_t n);
/* `made`, which it TAKES, is marked like that when it has no mark and one of the `n` values (NULL ones are
 * skipped) has: what was computed from them. NULL stays NULL. */
static inline py_t *
py_peer_like(py_t *made, py_t *const *from, size_t n)
{
    return __builtin_expect(py_state.peers, 0) ? py_peer_like_(made, from, n) : made;
}
/* The marks of a text. */
void py_peer_spans(const py_t *v, spans_t *ret);
/* A text that a peer said. NEW. */
py_t *py_str_peer(const char *text, size_t len);
/* The same of the machine that the result is for. NEW. */
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
/* Marks as a whole what `out` got since it had `at` bytes, when `v` is a text with a mark. */
void py_put_like(buf_t *out, size_t at, const py_t *v);
/* The same when the buffer `from` has a mark. */
void py_put_as(buf_t *out, size_t at, const buf_t *from);
/* The same for text that numbers made, of which nobody knows whose they are: when there are peers at all. */
void py_put_made(buf_t *out, size_t at);
/* NEW str, or bytes when `like` is: a part of its text. */
py_t *py_part(const py_t *like, const char *from, size_t len);
/* NEW str, or bytes when `like` is, of the buffer's bytes and marks; the buffer is empty afterwards. */
py_t *py_text_buf(const py_t *like, buf_t *text);
/* Moves the marks of a buffer that becomes something else than a value. */
void py_buf_spans(buf_t *text, spans_t *ret);

#endif
