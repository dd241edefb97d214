/* xstate.c - what all states of x509 do: look, compare, make, and have file.managed write. Bytes go to
 * file.managed as well, so that a file has its mode and owner before it has its name, and is the old one or
 * the new one. */
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/base64.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/x509/xstate.h"

/* Takes file.managed's arguments out of those of the state. */
static void
split_args(xstate_t *s)
{
    static const char *const of_file[] = {
        "user",   "group",   "mode",    "attrs",           "makedirs",  "dir_mode", "backup",
        "create", "tmp_dir", "tmp_ext", "follow_symlinks", "check_cmd", "selinux",  "encoding_errors"
    };

    s->file = json_pack("{s:O, s:b}", "name", value_get(s->args, "name"), "show_changes", 0);
    for (size_t i = 0; i < NELEMS(of_file); i++) {
        json_t *v = value_get(s->args, of_file[i]);
        if (v == NULL)
            continue;
        json_object_set(s->file, of_file[i], v);
        json_object_del(s->args, of_file[i]);
    }
    if (s->kind->mode != NULL && !value_truthy(value_get(s->file, "mode")))
        json_object_set_new(s->file, "mode", json_string(s->kind->mode));
}

/* file.managed with `contents` (NULL: only owner and mode), its return among the states that ran. *ret_fret
 * BORROWED. */
static int
xstate_run_file(xstate_t *s, const json_t *contents, bool test, json_t **ret_fret, fail_t *err)
{
    json_auto_t *args = json_copy(s->file);
    bool was = ctx_test(s->ctx);

    json_object_set_new(args, "replace", json_boolean(contents != NULL));
    if (contents != NULL)
        json_object_set(args, "contents", (json_t *) contents);
    ctx_set_test(s->ctx, test);
    int rc = ctx_state(s->ctx, "file.managed", args, ret_fret, err);
    ctx_set_test(s->ctx, was);
    return rc;
}

/* TAKES the return of file.managed. */
static void
xstate_add_file(xstate_t *s, json_t *fret)
{
    json_t *list = json_array();
    const char *id = value_str(ctx_chunk(s->ctx), "__id__", s->name);

    json_object_set_new(
        fret, "low",
        json_pack("{s:s, s:s, s:s, s:s}", "name", s->name, "state", "file", "__id__", id, "fun", "managed"));
    json_array_append_new(list, fret);
    json_object_set_new(s->ret, "sub_state_run", list);
}

/* The path that is compared: behind links unless follow_symlinks says otherwise. */
static int
xstate_find(xstate_t *s, fail_t *err)
{
    json_t *follow = value_get(s->file, "follow_symlinks");
    int link = fop_lexists_as(s->name, S_IFLNK, err);
    bool replaced = link > 0 && follow != NULL && !value_truthy(follow);
    AUTO_FREE char *real = fop_realpath(s->name);

    if (link < 0)
        return link;
    if (replaced) {
        json_object_set_new(s->changes, "replaced", json_string(s->name));
        return 0;
    }
    int file = fs_look_file(real, err);
    s->there = file > 0;
    s->real = s->there ? value_utf8(real, strlen(real)) : NULL;
    return file < 0 ? file : 0;
}

static int
write_file(xstate_t *s, fail_t *err)
{
    bool any = json_object_size(s->changes) > 0;
    json_auto_t *contents = NULL;
    buf_wiped_t bytes = BUF_INIT;
    json_t *fret = NULL;

    if (any) {
        /* Changes that are only about how it is kept need no new one. */
        bool fresh = !s->current;
        const char *key;
        json_t *v;
        json_object_foreach (s->changes, key, v) {
            bool known = false;
            for (size_t i = 0; s->kind->re_encode[i] != NULL; i++)
                known = known || str_eq(s->kind->re_encode[i], key);
            fresh = fresh || !known;
        }
        if (s->kind->make(s, fresh, &bytes, err) != 0)
            return err->code;
        /* Text, or bytes in py_wire's form. */
        if (str_ends(value_str(s->args, "encoding", "pem"), "pem"))
            contents = value_utf8(buf_str(&bytes), bytes.len);
        else {
            char *text = base64_encode(bytes.data, bytes.len, 0);
            contents = json_pack("{s:[s, s]}", "$py", "bytes", text);
            explicit_bzero(text, strlen(text));
            free(text);
        }
        state_ret_comment(s->ret, value_fmt("The %s has been %sd", s->kind->what,
                                            s->there && s->current ? "recreate" : "create"));
    }
    if (xstate_run_file(s, contents, false, &fret, err) != 0)
        return err->code;
    bool failed = json_is_false(value_get(fret, "result"));
    xstate_add_file(s, fret);
    if (!failed)
        return 0;
    state_change_set(s->ret, json_object());
    return state_ret_set(s->ret, STATE_FALSE, "Could not %s file, see file.managed output",
                         s->there ? "update" : "create");
}

/* Everything behind the arguments. Errors become a failed state. */
static int
xstate_body(xstate_t *s, fail_t *err)
{
    json_t *first = NULL;

    if (xstate_run_file(s, NULL, true, &first, err) != 0)
        return err->code;
    xstate_add_file(s, first);
    if (json_is_false(value_get(first, "result")))
        return state_ret_set(s->ret, STATE_FALSE,
                             "Problem while testing file.managed changes, see its output");
    if (strstr(value_str(first, "comment", ""), "is not present and is not set for creation") != NULL)
        return 0;
    if (xstate_find(s, err) != 0)
        return err->code;
    if (s->there && s->kind->compare(s, err) != 0)
        return err->code;
    if (!s->there && json_object_size(s->changes) == 0)
        json_object_set_new(s->changes, "created", json_string(s->name));
    bool any = json_object_size(s->changes) > 0;
    if (!any && value_truthy(value_get(first, "result")) &&
        json_object_size(value_get(first, "changes")) == 0)
        return 0;
    state_change_set(s->ret, json_incref(s->changes));
    if (!ctx_test(s->ctx))
        return write_file(s, err);
    if (any)
        return state_ret_set(s->ret, STATE_NONE, "The %s would have been %sd", s->kind->what,
                             s->there && s->current ? "recreate" : "create");
    return 0;
}

int
xstate_run(call_ctx_t *ctx, const xstate_kind_t *kind, json_t *args, json_t **ret_value, fail_t *err)
{
    xstate_t s = { .ctx = ctx, .kind = kind, .changes = json_object(), .ret = state_ret_args(args) };
    fail_auto_t why = FAIL_INIT;

    s.args = issue_args(args);
    s.name = value_str(args, "name", "");
    split_args(&s);
    (void) state_ret_set(s.ret, STATE_TRUE, "The %s is in the correct state", kind->what);
    if (xstate_body(&s, &why) != 0) {
        state_change_set(s.ret, json_object());
        json_object_del(s.ret, "sub_state_run"); /* nothing has come to file.managed */
        (void) state_ret_fail(s.ret, &why);
    }
    json_decref(s.args);
    json_decref(s.file);
    json_decref(s.changes);
    json_decref(s.real);
    issue_free(&s.issue);
    xdoc_destroy(&s.doc);
    pkey_destroy(&s.key);
    xkept_free(&s.kept);
    *ret_value = s.ret;
    return 0;
}
