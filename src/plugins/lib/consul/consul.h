/* consul.h - requests to a Consul server, and the functions of `consul` that are no more than one.
 *
 * Layer      plugins/lib/consul
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     what the server says is data: {"data", "res": false, "error"?}
 * Limits     LIMIT_FILE_READ bytes of an answer
 * Source     https://developer.hashicorp.com/consul/api-docs
 * Tests      tests/cases/exec/consul.*.json, against a server on loopback
 */
#ifndef PLUGINS_LIB_CONSUL_CONSUL_H
#define PLUGINS_LIB_CONSUL_CONSUL_H

#include "salt/plugin.h"

/* An argument by its name: a declared one that is not None, or any other keyword. BORROWED, or NULL. */
json_t *consul_given(const json_t *args, const char *name);
/* A text with "{NAME}" filled in. */
char *consul_text(const char *text, const json_t *args);
/* {"res": res, key: text} with "{NAME}" filled in. */
json_t *consul_said(bool res, const char *key, const char *text, const json_t *args);
/* Those of the words in `spec` that are given, as an object: "NAME" or "NAME:MEMBER", with blanks between. */
json_t *consul_members(const json_t *args, const char *spec);

/* The server's address: the argument, else the configuration. NULL with the function's return in
 * *ret_value, or with *err. */
char *consul_url(call_ctx_t *ctx, const json_t *args, json_t **ret_value, fail_t *err);
/* Sends a request: `query` (object), and but for GET `data`: a text as it is, anything else as JSON; all
 * BORROWED, NULL for none. {"data", "res", "error"?}, or NULL with *err. */
json_t *consul_send(call_ctx_t *ctx, const json_t *args, const char *url, const char *method,
                    const char *path, json_t *query, json_t *data, fail_t *err);

/* .data of a row whose function is one request. */
typedef struct consul_do {
    const char *method, *path; /* "catalog/node/{node}" */
    const char *query;         /* names of keywords */
    const char *body;          /* as consul_members() takes it */
    const char *needs;         /* a keyword; without it... */
    const char *missing;       /* ...this is the message, or NULL: an error */
    const char *done, *failed; /* messages; NULL: the answer is returned as it is */
    const char *answer;        /* the return's member for the answer; NULL: none */
    bool errors;               /* the return tells the error */
} consul_do_t;

/* A func_fn: the request of the row. */
int consul_ask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
/* The same with a body of its own, which is TAKEN. */
int consul_ask_with(call_ctx_t *ctx, const json_t *args, json_t *data, json_t **ret_value, fail_t *err);
/* The return of an answer. */
json_t *consul_told(const consul_do_t *what, const json_t *args, json_t *answer);
/* Ends a function with a message, where nothing is asked but the address is known. 0, or negative with
 * *err. */
int consul_refuse(call_ctx_t *ctx, const json_t *args, const char *message, json_t **ret_value, fail_t *err);

#define CONSUL_ROW_URL               ARG("consul_url", ARG_STR, "null", "The server; by default the option consul.url")
#define CONSUL_ROW_TOKEN             ARG("token", ARG_STR, "null", "ACL token; by default the option consul.token")
#define CONSUL_ROWS                  CONSUL_ROW_URL, CONSUL_ROW_TOKEN
#define CONSUL_ROW_MORE(takes, help) ARG("kwargs", ARG_ANY, ARG_STARSTAR, help, takes)
#define CONSUL_FN(name, fn, args, flags, doc, example, ...)                                                  \
    ROW(name, fn, args, flags, doc CLI_EXAMPLE("salt '*' consul." example),                                  \
        .data.ptr = &(const consul_do_t){ __VA_ARGS__ })

#endif
