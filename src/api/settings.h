/* settings.h - what the configuration says of the API: the section rest_cherrypy with Salt's names, checked,
 * and the options that begin with netapi_.
 *
 * Layer      api
 * Threads    one
 * Errors     -EINVAL names the option, what is wrong with it and what it may be
 * Tests      tests/unit/api/test_api_settings.c
 */
#ifndef API_SETTINGS_H
#define API_SETTINGS_H

#include "salt/base.h"

typedef struct settings {
    json_t *rest;       /* owned: the section, defaults filled in */
    const json_t *opts; /* BORROWED: the master's whole configuration */
    const char *prefix; /* root_prefix without a slash at its end; "" for none. BORROWED from `rest` */
    bool tls;           /* ssl_crt and ssl_key are used */
    size_t body_max;    /* bytes of one request's body */
    json_t *clients;    /* owned list of names: netapi_enable_clients without netapi_disable_clients */
} settings_t;

/* Reads the section out of the master's configuration `opts`, which is kept by pointer. Texts about what has no
 * effect are added to `warnings` (a json array). NEW, or NULL with *err. */
settings_t *settings_new(const json_t *opts, json_t *warnings, fail_t *err);
/* The settings of option metrics_port: loopback, and no log-in. NEW; NULL: the option is 0. */
settings_t *settings_metrics(const json_t *opts);
void settings_destroy(settings_t **self_p);

const char *settings_str(const settings_t *self, const char *name); /* "" when it is not set. BORROWED */
bool settings_flag(const settings_t *self, const char *name);
/* True when the address, a text, is one of this machine's own: 127.0.0.0/8, ::1, localhost. */
bool settings_loopback(const char *host);
/* True when `user` may come from `address`: api_acl and authorized_ips. `user` NULL: authorized_ips alone. */
bool settings_admits(const settings_t *self, const char *user, const char *address);

#endif
