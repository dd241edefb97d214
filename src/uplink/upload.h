/* upload.h - files to a master over a session, for cp.push: one after the other, in chunks as the master
 * grants credit.
 *
 * Requested through download.h with {"op": "put", "local": a path here, "path": the path on the master}.
 *
 * Layer      uplink
 * Threads    the session's
 * Tests      tests/t/4000-files.bats
 */
#ifndef UPLINK_UPLOAD_H
#define UPLINK_UPLOAD_H

#include "uplink/download.h"

typedef struct uploads uploads_t;

uploads_t *uploads_new(const download_host_t *host); /* NEW */
void uploads_destroy(uploads_t **self_p);
void uploads_ask(uploads_t *self, json_int_t id, const json_t *ask);
void uploads_cancel(uploads_t *self, json_int_t id);
void uploads_ready(uploads_t *self);
void uploads_lost(uploads_t *self);                  /* the upload under way starts over */
void uploads_take(uploads_t *self, uploads_t *from); /* see downloads_take */
void uploads_message(uploads_t *self, wire_msg_t msg, const json_t *body);
int uploads_step(uploads_t *self); /* milliseconds until it wants to be called again at the latest */

#endif
