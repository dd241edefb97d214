/* pyhost.h - custom modules in Python as one context sees them: which files there are, the interpreter that
 * has loaded them, their functions as plug-ins.
 *
 * A context looks for files when it is first asked about a kind, and starts an interpreter (common/python)
 * when a function of such a file may be meant; one interpreter serves all of them until the context ends. In
 * a forked child the next call starts another one. The interpreter runs loader.py, where the messages are
 * described.
 *
 * Layer      pyhost, private
 * Threads    a context belongs to one thread
 * Ownership  all is the context's and lives as long as it (call_attach)
 * Errors     a file that can't be loaded is a plug-in that is not usable, with the reason
 * Tests      tests/t/3070-python-modules.bats
 */
#ifndef PYHOST_PYHOST_H
#define PYHOST_PYHOST_H

#include "common/python/talk.h"
#include "common/python/userfile.h"
#include "salt/plugin.h"

typedef struct pyloader pyloader_t;

/* Rows of pykinds.def: PYKIND_modules, ... */
typedef enum pykind {
#define PYKIND(name, plugin, option) PYKIND_##name,
#include "pyhost/pykinds.def"
    PYKINDS
#undef PYKIND
} pykind_t;
const char *pykind_name(pykind_t kind);
/* The kind whose functions are plug-ins of `kind`; PYKINDS: none. */
pykind_t pykind_of(plugin_kind_t kind);

/* NEW {"modules": ["/var/cache/salt/minion/extmods/modules", ...], ...}: where files of each kind are, in
 * order of precedence. */
json_t *pyfiles_folders(call_ctx_t *ctx);
/* NEW {name: true} of the files of these folders. */
json_t *pyfiles_stems(const json_t *folders);

/* NEW {KIND: name of the option with further folders}. */
json_t *pyfiles_options(void);
/* The context's host. Nothing is started or read by that. */
pyloader_t *pyhost_of(call_ctx_t *ctx);
/* The host has the named file; `stem` NULL: any file of the kind. */
bool pyhost_has(pyloader_t *self, pykind_t kind, const char *stem);
/* The folder of Salt's own package, found once. BORROWED; NULL: none is used. */
const char *pyhost_salt(pyloader_t *self);
/* The task that makes host.py run loader.py. NEW. */
json_t *pyhost_program(void);
/* Forget what was found and loaded: files have changed. */
void pyhost_forget(pyloader_t *self);
/* Run a task of loader.py, BORROWED. NEW value of "done" as the whole message, or NULL with *err, whose kind
 * is that of the exception. */
json_t *pyhost_task(pyloader_t *self, const json_t *task, fail_t *err);
/* The same until py_deadline_ms(): then the interpreter is ended. */
json_t *pyhost_task_in_time(pyloader_t *self, const json_t *task, fail_t *err);

/* The same for a call of userfile.h, whose `include` answers meanwhile. */
json_t *pyhost_user(pyloader_t *self, const userfile_t *what, const json_t *task, fail_t *err);

/* A function of a file; func_t.data.ptr of its row. */
typedef struct pyfunction {
    pykind_t kind;
    const char *stem, *name;
    bool salts;    /* of one of Salt's own files */
    json_t *wants; /* words of the globals that its file mentions: ["low", ...] */
    func_more_t more;
} pyfunction_t;
/* The C function of all rows. */
native_fn pyhost_run;
/* NULL when the row is not one of pyhost_run's. */
const pyfunction_t *pyfunction_of(const func_t *f);

/* The plug-ins of a module: of the user's file that has its name, of the user's others that give it
 * functions, or of Salt's own files. `module` NULL: of all modules, of Salt's those that were looked at
 * already. BORROWED list that ends with NULL; NULL: none. */
typedef enum pyorigin { PYORIGIN_WHOLE, PYORIGIN_ADDED, PYORIGIN_SALT, PYORIGINS } pyorigin_t;
const plugin_t *const *pyplugins(call_ctx_t *ctx, pykind_t kind, const char *module, pyorigin_t origin);
/* NULL when it can be used. */
const char *pyplugin_why(const plugin_t *p);
/* Forget what the next question has to find out anew. */
void pyplugins_forget(call_ctx_t *ctx);

#endif
