/* system.h - the systems of external_auth: each is a file of `systems` with one function, and a row of
 * systems.def.
 *
 * A function runs in a process of its own for one login, and may block: DEADLINE_S ends it, with what it has
 * started. It knows the password, so it gives it to no program's arguments and to no log.
 *
 * Layer      auth
 * Threads    one
 * Ownership  all of the login is BORROWED
 * Tests      tests/t/1310-eauth.bats, tests/unit/auth
 */
#ifndef AUTH_SYSTEM_H
#define AUTH_SYSTEM_H

#include "salt/base.h"

#define DEADLINE_S 30

typedef struct login {
    const char *user, *password;
    const char *eauth;     /* the system's name */
    const json_t *config;  /* the system's parameters in external_auth, without ^ */
    const json_t *options; /* the master's options auth.SYSTEM.*, and sharedsecret */
    const json_t *places;  /* texts "ldap(NAME)" that stand for minions in the rules; NULL: none */
} login_t;

/* 1: the password is right; `found` (an object) may get "groups", a list of the user's, "rules", which he has
 * by the system's word, and "places": the minions of each of the login's. 0: it is not.
 * Negative with *err: that can't be told, and the login fails. In both cases *err may have a text for the
 * master's log. */
typedef int system_fn(const login_t *login, json_t *found, fail_t *err);

/* A system in Python: a user's file in _auth or auth_dirs, or one of Salt's own, called by the program
 * salt-engine with the argument `host` (main_engine.c). The same results. */
int system_python(const char *name, const char *host, const login_t *login, json_t *found, fail_t *err);
/* The rules alone that the system gives a user who has logged in by another one: 1, with or without "rules" in
 * `found`. Negative with *err. */
int system_python_rules(const char *name, const char *host, const login_t *login, json_t *found, fail_t *err);

#define SYSTEM(name) system_fn system_##name;
#include "auth/systems.def"
#undef SYSTEM

/* Both texts are the same. The time it takes tells nothing but their lengths. */
bool auth_same(const char *a, const char *b);

/* True when `hash` is of this password: {SHA}, $apr1$ and what crypt(3) knows ($2y$, $5$, $6$, $1$, DES). */
bool htpasswd_verify(const char *password, const char *hash);

#endif
