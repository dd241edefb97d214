/* run.h - a template while it runs: sessions, contexts, frames; shared by the evaluator and the filters.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  contexts and frames count their references; a session empties what is left of them at its end,
 *            because macros and the frames they live in hold each other
 * Errors     as py.h: NULL or -1 with the exception raised
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja
 */
#ifndef COMMON_JINJA_RUN_H
#define COMMON_JINJA_RUN_H

#include "common/base/map.h"
#include "common/jinja/parse/ast.h"
#include "common/jinja/jinja.h"
#include "common/jinja/parse/parse.h"
#include "common/jinja/row.h"
#include "common/py/py_methods.h"
#include "common/py/py_peer.h"

typedef struct jsession jsession_t;

/* A compiled template. */
typedef struct jtemplate {
    int refs;
    jtree_t tree;
    char *name, *path; /* NULL: rendered from text */
    int64_t version;
} jtemplate_t;

/* A template in one session. */
typedef struct jloaded {
    jtemplate_t *template;
    py_t *module; /* of imports without context; NULL until the first one */
} jloaded_t;

typedef struct jframe {
    int refs;
    uint16_t n;
    const jfunc_t *func;
    struct jframe *outer;
    jsession_t *session; /* NULL when that is over */
    struct jframe *prev, *next;
    py_t *v[]; /* NULL: missing */
} jframe_t;

/* A block as a template defines it. */
typedef struct jblock {
    jtemplate_t *template;
    const jnode_t *node;
} jblock_t;
typedef struct jblocks {
    const char *name;
    jblock_t *v; /* the youngest template's first */
    size_t n;
} jblocks_t;

typedef struct jcontext {
    int refs;
    jsession_t *session; /* NULL when that is over */
    struct jcontext *prev, *next;
    jtemplate_t *template; /* a reference */
    py_t *parent;          /* dict: globals and what was passed */
    py_t *vars;            /* dict: what the template's top level assigned */
    py_t *exported;        /* set of names */
    bool autoescape;
    jblocks_t *blocks; /* freed with the session, which kept their templates */
    size_t n_blocks;
} jcontext_t;

/* A running call of a template's function. */
typedef struct jrun {
    jsession_t *s;
    jcontext_t *ctx;
    jframe_t *frame;
    jtemplate_t *template;
    jfunc_kind_t kind;
    int line;
    const char *label; /* of a macro or block: its name */
    buf_t *out;
    jloaded_t *extended; /* by `extends` */
    py_t *caller;        /* of the call block that is evaluated */
    py_t *captured;      /* text that a filter without operand works on */
    struct jrun *up;
} jrun_t;

struct jinja {
    jinja_options_t options;
    jinja_loader_t loader;
    arena_t *texts;
    map_t *cache; /* path -> jtemplate_t */
    py_t *policies;
    py_t *globals; /* copied for every session; NULL before the first one */
};

struct jsession {
    jinja_t *engine;
    jinja_marks_t *marks; /* of what is written to `marked`; NULL: not wanted */
    const buf_t *marked;
    py_t *globals; /* dict */
    map_t *loaded; /* name -> jloaded_t */
    jrun_t *run;   /* innermost */
    jframe_t *frames;
    jcontext_t *contexts;
    jinja_frame_t *trace; /* of the exception on its way */
    size_t n_trace;
    jtemplate_t **kept; /* every template that anything may still point to */
    size_t n_kept;
    char *bad_text; /* of the template that did not compile */
    char *hint;     /* suggestion for an unknown name */
};

/* NEW, or NULL with TemplateSyntaxError raised and its place in the trace. */
jtemplate_t *jtemplate_new(jsession_t *s, const char *text, size_t len, const char *name, const char *path,
                           bool expression);
jtemplate_t *jtemplate_ref(jtemplate_t *t);
void jtemplate_unref(jtemplate_t *t);
/* BORROWED; NULL raised: TemplateNotFound. */
jloaded_t *jload(jsession_t *s, py_t *name);
/* get_or_select_template and its relatives. */
jloaded_t *jload_select(jsession_t *s, py_t *names, jselect_t how);

/* NEW; `parent` BORROWED, shared. */
jcontext_t *jcontext_new(jsession_t *s, jtemplate_t *template, py_t *parent);
jcontext_t *jcontext_ref(jcontext_t *ctx);
void jcontext_unref(jcontext_t *ctx);
void jcontext_drop_blocks(jcontext_t *ctx);
/* NEW context with this run's variables on top, of the same or another template. */
jcontext_t *jcontext_derived(jrun_t *r, jtemplate_t *template, const jlocals_t *locals, bool same_blocks);
/* BORROWED; NULL: missing. */
py_t *jcontext_get(const jcontext_t *ctx, py_t *name);
/* NEW dict of everything. */
py_t *jcontext_all(const jcontext_t *ctx);
void jcontext_add_blocks(jcontext_t *ctx, jtemplate_t *template);
jblocks_t *jcontext_blocks(const jcontext_t *ctx, const char *name);

jframe_t *jframe_new(jsession_t *s, const jfunc_t *func, jframe_t *outer);
jframe_t *jframe_ref(jframe_t *f);
void jframe_unref(jframe_t *f);
static inline py_t **
jframe_at(jframe_t *f, jref_t ref)
{
    for (unsigned i = ref.hops; i > 0; i--)
        f = f->outer;
    return &f->v[ref.slot];
}
/* TAKES value; NULL makes it missing. */
static inline void
jframe_set(jframe_t *f, jref_t ref, py_t *value)
{
    py_t **at = jframe_at(f, ref);
    py_t *old = *at;
    *at = value;
    py_unref(old);
}
void jenter(jrun_t *r, const jscope_t *scope);
void jleave(jrun_t *r, const jscope_t *scope);

/* Exceptions are -1; break and continue are statements' outcomes. */
enum { JX_OK, JX_BREAK, JX_CONTINUE };
int jexec(jrun_t *r, const jlist_t *body);
int jassign(jrun_t *r, const jnode_t *target, py_t *value);
/* environment.getattr and getitem. NEW. */
py_t *jgetattr(jsession_t *s, py_t *obj, py_t *name);
py_t *jgetitem(jsession_t *s, py_t *obj, py_t *key);
py_t *jundefined(jsession_t *s, py_t *name, const char *hint);
bool jescapes(const jrun_t *r, uint8_t mode);
/* Prints a value as the environment prints them. */
int jprint(jrun_t *r, py_t *v, bool escape);
void jmarks_add(jinja_marks_t *self, size_t at, int line, const char *path, bool verbatim);
/* 0 or -1; more text than the limit is one. */
int jout_check(jrun_t *r, const buf_t *out);

/* A function of a template runs: `body` in a new frame. Appends to `out`. */
int jrun_root(jsession_t *s, jcontext_t *ctx, jtemplate_t *template, buf_t *out);
int jrun_block(jcontext_t *ctx, const jblock_t *block, const char *name, buf_t *out);
void jrun_push(jrun_t *r, jsession_t *s, jcontext_t *ctx, jtemplate_t *t, jfunc_kind_t kind, jframe_t *frame,
               buf_t *out);
/* Adds a place to the trace of the pending exception, innermost first. */
void jtrace_add(jsession_t *s, const jtemplate_t *t, int line);
/* Ends the run; after a failure its place is added to the trace. */
void jrun_pop(jrun_t *r, bool failed);
/* Suggestion for the pending exception: NEW text or NULL. `r` may be NULL. */
char *jhint(const jinja_t *engine, const jrun_t *r);

/* ---- things that templates hold (rt_*.c) */
py_t *jmacro_new(jrun_t *r, const jnode_t *node);
int jexec_for(jrun_t *r, const jnode_t *node);
py_t *jmodule_new(jcontext_t *ctx, jtemplate_t *template, buf_t *body);
/* BORROWED; NULL when the module has no such name. */
py_t *jmodule_get(py_t *module, py_t *name);
/* Template of a module whose text is a verbatim prefix of the template's. BORROWED; NULL: no such module. */
const jtemplate_t *jmodule_verbatim(const jsession_t *s, py_t *v);
/* str(v) for what is a module, else the value itself. NEW. */
py_t *jmodule_text(py_t *v);
py_t *jself_new(jcontext_t *ctx);
py_t *jsuper_new(jcontext_t *ctx, const char *name, const jnode_t *block);

#endif
