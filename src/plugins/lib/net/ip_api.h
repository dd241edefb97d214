/* ip_api.h - the one interface of the module `ip`, which has a provider for each family of systems:
 * arguments, and what the providers share. The rows stand in ip_api.def.
 *
 * Layer      plugins/lib/net
 * Threads    a job's child
 * Ownership  results are NEW
 * Errors     as Salt's modules raise them
 * Tests      tests/cases/exec/ip.*.json
 */
#ifndef PLUGINS_LIB_NET_IP_API_H
#define PLUGINS_LIB_NET_IP_API_H

#include "salt/plugin.h"

extern const arg_t ip_iface_args[], ip_switch_args[], ip_switch_any_args[], ip_build_args[],
    ip_iface_settings_args[], ip_settings_args[];

/* The argument `iface`, which becomes words of files and parts of their names; every value of a setting
 * becomes a line. */
int ip_check_iface(const json_t *args, fail_t *err);
int ip_check_settings(const json_t *settings, fail_t *err);

/* True when the list "a|b|c" has the text; NULL is in none. */
bool ip_word_in(const char *list, const char *text);
/* The text itself, its letters made small. */
char *ip_small(char *text);
/* NEW: the argument `iface_type` in small letters. */
char *ip_type(const json_t *args);
/* Installs a package unless it is there; NULL: none. */
int ip_install(call_ctx_t *ctx, const char *package, fail_t *err);

/* ifup and ifdown, by the row; nothing for types in "slave|source", which follow another interface. */
int ip_switch_iface(call_ctx_t *ctx, json_t *args, const char *still, json_t **ret_value, fail_t *err);

/* A call that restarts the network. */
typedef struct ip_service {
    const char *function, *service;
} ip_service_t;
/* Sets the host's name where that is asked for, then calls functions of `service` one after the other, unless
 * a reboot does it: whether all went well. */
int ip_apply(call_ctx_t *ctx, const json_t *args, const ip_service_t *calls, size_t n, json_t **ret_value,
             fail_t *err);

#endif
