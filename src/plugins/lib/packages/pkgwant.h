/* pkgwant.h - which packages a state of `pkg` asks for, and what is there: for all package managers alike.
 *
 * Shapes: `wanted` is {name: version text or None}, `have` is {name: [version]} as pkg.list_pkgs gives it.
 *
 * Layer      plugins/lib/packages
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     said per function
 * Tests      tests/cases/state/pkg.*.json
 */
#ifndef PLUGINS_LIB_PACKAGES_PKGWANT_H
#define PLUGINS_LIB_PACKAGES_PKGWANT_H

#include "salt/plugin.h"

/* Checks that the SLS names a package: by `pkgs`, or by a `name` that is a text. 0, or FAIL_COMMAND in *err. */
int pkgwant_named(const json_t *args, fail_t *err);
/* The SLS's `pkgs` (names, and {name: version}), or `name` and `version`. NEW wanted; empty when `pkgs` is of
 * another form; NULL with *err. */
json_t *pkgwant_of(call_ctx_t *ctx, const json_t *args, fail_t *err);
/* `sources`: [{name: path}]. The values are the paths. */
json_t *pkgwant_sources(const json_t *sources);

/* pkg.list_pkgs with versions as lists. `what` is "removed", "purge_desired" or NULL. NEW have. */
json_t *pkgwant_have(call_ctx_t *ctx, const char *what, fail_t *err);

/* Adds the difference of two such lists to a state's changes: {name: {"old", "new"}}. */
void pkgwant_changes(const json_t *before, const json_t *now, json_t *ret);

/* The state fails with the package manager's error, without the changes in it, which are the state's; an error
 * without any stands behind "An error was encountered while `doing`: ". Clears *err. True: it had changes. */
bool pkgwant_failed(json_t *ret, const char *doing, fail_t *err);

/* True when one of `versions` satisfies `wish`: "1.2", "1.2*", ">=1.2,<2". With `newer` a single plain
 * version means at least that version. 1, 0, or negative with *err. */
int pkgwant_holds(call_ctx_t *ctx, const json_t *versions, const char *wish, const json_t *ignore_epoch,
                  bool newer, fail_t *err);
/* "name=1.2", "name>=1.2" or "name", as comments say it. NEW text. */
char *pkgwant_text(const char *name, const json_t *wish);

/* The keys of an object, and texts, joined by ", ". NEW text. */
char *pkgwant_keys(const json_t *names, bool sorted);

/* Salt's mark that the lists were refreshed in this run is a file in cachedir: it is there while nobody has.
 */
bool pkgwant_refresh(call_ctx_t *ctx, const json_t *refresh);
void pkgwant_mark(call_ctx_t *ctx);

/* The keyword arguments of a state that belong to the module's function too: its **kwargs and the saltenv.
 * NEW object. */
json_t *pkgwant_kwargs(call_ctx_t *ctx, const json_t *args);

#endif
