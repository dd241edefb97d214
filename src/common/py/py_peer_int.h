/* py_peer_int.h - marks of peers' data, as shared by the files of this folder; see py_peer.h.
 *
 * Layer      common/py, private */
#ifndef COMMON_PY_PY_PEER_INT_H
#define COMMON_PY_PY_PEER_INT_H

#include "common/py/py_peer.h"

/* The marks of a text, as pystr_t holds them. */
typedef struct pypeer pypeer_t;
void py_peer_free(pypeer_t *p);
void py_take_marks(py_t *v, buf_t *text); /* the buffer's marks become `v`'s, which has its bytes */
/* The number of buffers' notes, and the removal of those added after the first `from`. */
size_t py_notes(void);
void py_notes_drop(size_t from);

/* The marks of `v`, whose text stands at byte `at` of what is made, go to `spans`. py_set_spans() follows. */
void py_copy_spans(const py_t *v, size_t at, spans_t *spans);
/* TAKES the spans. */
void py_set_spans(py_t *v, spans_t *spans);

#endif
