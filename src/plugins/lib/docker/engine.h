/* engine.h - the HTTP API of a Docker Engine, or of podman's compatible service: one request and its answer.
 *
 * The address is the option `docker.url` (configuration, then pillar), the variable DOCKER_HOST, or
 * unix:///run/docker.sock; unix://, tcp:// and https:// are understood. The version of the API is
 * `docker.version` or the one that the engine names, asked once in a job. Source of the format: the Engine's
 * API description, docs.docker.com/engine/api.
 *
 * Layer      plugins/lib/docker
 * Threads    as the context
 * Ownership  answers are NEW; the rest is BORROWED
 * Errors     FAIL_COMMAND. What the engine refuses is "Error 404: No such container: x", with -ENOENT for
 *            404, -EBUSY for 409 and -EREMOTEIO for others
 * Tests      tests/cases/exec/docker.*.json
 */
#ifndef PLUGINS_LIB_DOCKER_ENGINE_H
#define PLUGINS_LIB_DOCKER_ENGINE_H

#include "common/base/buf.h"
#include "salt/plugin.h"

enum { ENGINE_TIMEOUT = 60 }; /* seconds, as docker-py's */

typedef struct engine_ask {
    const char *method; /* "GET", "POST" or "DELETE" */
    const char *path;   /* below the version; names in it come from engine_path() */
    json_t *query;      /* object or NULL: true is 1, false 0, null left out, containers are JSON */
    json_t *body;       /* object or NULL */
    const char *field;  /* one more line of the header, or NULL */
    const char *type;   /* of what `file` or `bytes` hold */
    const buf_t *bytes; /* the body instead */
    FILE *file;         /* the body instead, with its size */
    intmax_t file_size;
    int to; /* 0: memory; else the descriptor that takes the answer */
    double
        timeout; /* seconds; 0: the default; negative: none for the whole, as a pull or a wait takes long */
} engine_ask_t;

/* printf for paths, where each %s is percent-encoded whole. NEW. */
char *engine_path(const char *fmt, ...);
/* The bytes of the answer in `out`, which may be empty. 0, or negative with *err. */
int engine_bytes(call_ctx_t *ctx, const engine_ask_t *ask, buf_t *out, fail_t *err);
/* The answer as JSON: null for an empty one. */
json_t *engine_json(call_ctx_t *ctx, const engine_ask_t *ask, fail_t *err);
/* An answer that is a stream of JSON objects, as of a pull: NEW list. */
json_t *engine_stream(call_ctx_t *ctx, const engine_ask_t *ask, fail_t *err);
/* GET without a query. */
json_t *engine_get(call_ctx_t *ctx, fail_t *err, const char *path);
/* POST; TAKES query and body, which may be NULL. */
json_t *engine_post(call_ctx_t *ctx, fail_t *err, const char *path, json_t *query, json_t *body);
int engine_delete(call_ctx_t *ctx, fail_t *err, const char *path, json_t *query);
/* A setting of the configuration, else of the pillar, else NULL. BORROWED. */
json_t *engine_option(call_ctx_t *ctx, const char *name);
/* The line "X-Registry-Auth: ..." with what ~/.docker/config.json knows of an image's registry; NULL: nothing.
 * NEW; the file's fault is no error, the pull is then one without a login. */
char *engine_auth(const char *image);

#endif
