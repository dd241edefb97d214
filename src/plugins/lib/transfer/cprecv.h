/* cprecv.h - files that salt-cp sends in a job's arguments. They appear whole, where their links lead as
 * partfile.h says, with the owner of the file that was there.
 *
 * Layer      plugins/lib/transfer
 * Threads    one
 * Errors     what can't be written is Salt's answer, not an error
 * Tests      tests/cases/exec/cp.recv.json, cp.recv_chunked.json
 */
#ifndef PLUGINS_LIB_TRANSFER_CPRECV_H
#define PLUGINS_LIB_TRANSFER_CPRECV_H

#include "salt/plugin.h"

/* cp.recv: {path: text} below `dest`; {path: whether it was written}, or a text; *ret_failed when any was
 * not. NEW. */
json_t *cprecv_files(json_t *files, const char *dest, bool *ret_failed);

/* cp.recv_chunked. NEW: true, or a text that says what is wrong, with *ret_failed. `chunk` NULL: a folder.
 * Without the name of a `copy` a piece is a file of its own, or goes behind what is there, as in Salt. */
typedef struct cprecv_chunk {
    const char *dest, *chunk; /* base64 */
    const char *copy;         /* NULL: none; else see cpparts.h */
    const char *cachedir, *id;
    int64_t at; /* of a copy: where the piece begins */
    bool last;  /* of a copy: no piece follows */
    bool append, compressed;
    int mode; /* -1: as it is */
} cprecv_chunk_t;
json_t *cprecv_piece(const cprecv_chunk_t *piece, bool *ret_failed, fail_t *err);

#endif
