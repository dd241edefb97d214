/* archive.c - state archive.extracted: what an archive holds is in a folder, by the steps of extracted.h
 * (check, fetch, compare, unpack); then its owner, and the return. A step answers 1 when the return is made.
 * Owners are set after unpacking, since tar and unzip run as the minion. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/archive/extracted.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/source.h"

/* ---- ownership ------------------------------------------------------------------------------- */

/* Paths whose owner is wanted and could not be looked at, or not changed. */
typedef struct owners {
    json_t *missing, *failed; /* owned */
} owners_t;

/* A folder of the archive with all that is in it, by the state file.directory. */
static int
own_dir(extracted_t *x, const char *full, owners_t *o)
{
    json_auto_t *ret = NULL, *recurse = json_array();
    int there = fs_look_dir(full, x->err);

    if (there < 0)
        return there;
    if (there == 0) {
        if (!ctx_test(x->ctx))
            json_array_append_new(o->missing, json_string(full));
        return 0;
    }
    if (extracted_asked(x, "user"))
        json_array_append_new(recurse, json_string("user"));
    if (extracted_asked(x, "group"))
        json_array_append_new(recurse, json_string("group"));
    json_auto_t *kwargs = json_pack("{s:s, s:O, s:O, s:O}", "name", full, "user", value_get(x->args, "user"),
                                    "group", value_get(x->args, "group"), "recurse", recurse);
    if (ctx_state(x->ctx, "file.directory", kwargs, &ret, x->err) < 0)
        return x->err->code;
    if (value_truthy(value_get(ret, "changes")))
        state_change(x->ret, "updated ownership", json_true());
    if (!value_truthy(value_get(ret, "result")) && !ctx_test(x->ctx))
        json_array_append_new(o->failed, json_string(full));
    return 0;
}

/* A file or link itself. In test mode a path that is not there yet is no fault. */
static void
own_file(extracted_t *x, const char *full, owners_t *o)
{
    struct stat st;
    bool test = ctx_test(x->ctx);

    if (lstat(full, &st) < 0) {
        if (!test && errno == ENOENT)
            json_array_append_new(o->missing, json_string(full));
        if (!test)
            json_array_append_new(o->failed, json_string(full));
        return;
    }
    if ((x->uid == (uid_t) -1 || x->uid == st.st_uid) && (x->gid == (gid_t) -1 || x->gid == st.st_gid))
        return;
    if (test || lchown(full, x->uid, x->gid) == 0)
        state_change(x->ret, "updated ownership", json_true());
    else
        json_array_append_new(o->failed, json_string(full));
}

/* The owner of each path of one kind ("top_level_dirs", ...) of the archive's list. */
static int
own_list(extracted_t *x, const char *kind, owners_t *o)
{
    json_t *path;
    size_t i;
    int rc = 0;

    json_array_foreach (value_get(x->contents, kind), i, path) {
        AUTO_FREE char *full = xasprintf("%s%s", x->name, json_string_value(path));
        if (strcmp(kind, "top_level_dirs") != 0)
            own_file(x, full, o);
        else if (rc == 0)
            rc = own_dir(x, full, o);
    }
    return rc;
}

/* Sets the owner of all that the archive has at its top, or only of what `enforce_ownership_on` names. */
static int
enforce_ownership(extracted_t *x, owners_t *o)
{
    json_t *place = extracted_arg(x, "enforce_ownership_on");

    if (!extracted_asked(x, "user") && !extracted_asked(x, "group"))
        return 0;
    if (place != NULL) {
        const char *path = json_string_value(place);
        int dir = fs_look_dir(path, x->err);
        if (dir == 0)
            own_file(x, path, o);
        return dir > 0 ? own_dir(x, path, o) : dir;
    }
    int rc = own_list(x, "top_level_dirs", o);
    rc = rc == 0 ? own_list(x, "top_level_files", o) : rc;
    return rc == 0 ? own_list(x, "top_level_links", o) : rc;
}

/* ---- the return ------------------------------------------------------------------------------ */

/* Result and comment, and the files as the change. */
static void
archive_tell(extracted_t *x)
{
    buf_auto_t text = BUF_INIT;
    bool owned = value_get(value_get(x->ret, "changes"), "updated ownership") != NULL;

    if (!x->needed) {
        bool would = ctx_test(x->ctx) && owned;
        state_ret_set(x->ret, would ? STATE_NONE : STATE_TRUE, "All files in archive are already present%s",
                      would ? ". Ownership would be updated on one or more files/directories." : "");
        return;
    }
    if (!value_truthy(x->files)) {
        state_ret_set(x->ret, STATE_FALSE, "No files were extracted from %s", x->shown);
        return;
    }
    if (x->made_dir)
        state_change(x->ret, "directories_created", json_pack("[s]", x->name));
    state_change(x->ret, "extracted_files", json_incref(x->files));
    buf_printf(&text, "%s extracted to %s", x->shown, x->name);
    extracted_reason(x, &text);
    if (value_truthy(x->trim)) {
        AUTO_FREE char *trim = value_pystr(x->trim);
        buf_printf(&text, ". Output was trimmed to %s number of lines", trim);
    }
    state_ret_set(x->ret, STATE_TRUE, "%s", buf_str(&text));
}

/* Removes the cached archive when keep_source is False. A failure is a warning: the state itself is done. */
static int
drop_source(extracted_t *x)
{
    json_t *keep = extracted_extra(x, "keep_source") != NULL ? extracted_extra(x, "keep_source")
                                                             : extracted_extra(x, "keep");
    json_auto_t *kwargs = json_pack("{s:s, s:s}", "name", x->source, "saltenv", ctx_saltenv(x->ctx)),
                *ret = NULL;

    if (x->local || keep == NULL || value_truthy(keep))
        return 0;
    if (ctx_state(x->ctx, "file.not_cached", kwargs, &ret, x->err) < 0)
        return x->err->code;
    if (!value_truthy(value_get(ret, "result")))
        state_ret_warn(x->ret, "%s", value_str(ret, "comment", ""));
    return 0;
}

static int
archive_finish(extracted_t *x)
{
    owners_t o = { json_array(), json_array() };
    int rc = enforce_ownership(x, &o);

    if (rc == 0) {
        archive_tell(x);

        /* A failed owner fails the state; a path that is missing does so only without `if_missing`, which may
         * have left the archive out. */
        const json_t *const lists[] = { o.missing, o.failed };
        static const char *const said[] = { "the following paths were missing",
                                            "Salt was unable to change ownership on the following paths" };
        for (size_t i = 0; i < NELEMS(lists); i++) {
            AUTO_FREE char *paths = value_joined(lists[i], "\n- ");
            if (json_array_size(lists[i]) == 0)
                continue;
            json_object_set_new(x->ret, "comment",
                                value_fmt("%s\n\nWhile trying to enforce user/group ownership, %s:\n\n- %s",
                                          value_str(x->ret, "comment", ""), said[i], paths));
            if (i == 1 || !extracted_asked(x, "if_missing"))
                json_object_set_new(x->ret, "result", json_false());
        }
        rc = drop_source(x);
    }
    json_decref(o.missing);
    json_decref(o.failed);
    return rc;
}

/* ---- the state ------------------------------------------------------------------------------- */

static int
archive_extracted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static int (*const steps[])(extracted_t *) = {
        extracted_check, extracted_fetch, extracted_compare, extracted_unpack, archive_finish,
    };
    extracted_t x = { .ctx = ctx, .args = args, .err = err, .ret = state_ret_args(args) };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i](&x);
    extracted_free(&x);
    *ret_value = x.ret;
    if (rc >= 0)
        return 0;
    json_decref(x.ret);
    *ret_value = NULL;
    return rc;
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t extracted_args[] = {
    STATE_TEXT("name", ARG_REQUIRED, "Folder to unpack to"),
    STATE_ANY("source", ARG_REQUIRED,
              "The archive: path or URL, or a list of which the first that exists is taken"),
    STATE_ANY("source_hash", "null", "Digest of the archive, or where it stands"),
    STATE_ANY("source_hash_name", "null", "Name of the archive in a file of digests"),
    STATE_ANY("source_hash_update", "false", "Unpack again when the digest has changed"),
    STATE_ANY("skip_files_list_verify", "false", "Let the kept digest alone say whether it is unpacked"),
    STATE_ANY("skip_verify", "false", "Take an archive from a web server without a digest"),
    STATE_ANY("password", "null", "Of an encrypted zip archive"),
    STATE_ANY("options", "null", "Options of tar or unzip"),
    STATE_TEXT("list_options", "null", "A command that unpacks a tar archive to stdout, to list it"),
    STATE_ANY("force", "false", "Remove what is there as something else: a file for a folder"),
    STATE_ANY("overwrite", "false", "Unpack it in any case"),
    STATE_ANY("clean", "false", "Remove its top-level paths first"),
    STATE_ANY("clean_parent", "false", "Remove the folder first"),
    STATE_ANY("user", "null", "Owner of what is unpacked"),
    STATE_ANY("group", "null", "Group of what is unpacked"),
    STATE_TEXT("if_missing", "null", "Do nothing when this path exists"),
    STATE_ANY("trim_output", "false", "Show the first paths only: True for 100, or a number"),
    STATE_ANY("use_cmd_unzip", "null", "Unpack zip archives by the program unzip"),
    STATE_ANY("extract_perms", "true", "Give files of a zip archive the modes that it has"),
    STATE_ANY("enforce_toplevel", "true", "Refuse an archive with more than one path at its top"),
    STATE_TEXT("enforce_ownership_on", "null", "Path below the folder that gets the owner, in place of all"),
    STATE_ANY("archive_format", "null", "tar, zip or rar; by default from the source's name"),
    STATE_ANY("use_etag", "false", "Ask the web server by the ETag whether to fetch it again"),
    SOURCE_SIGNATURE_ROW,
    SOURCE_SIGNER_ROWS,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "keep_source, keep, and arguments of the function that unpacks",
        "keep_source keep excludes template runas"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "extracted", archive_extracted, extracted_args, 0, "What an archive holds is in a folder." },
};

PLUGIN(state, archive, .doc = "Archives that are unpacked", FUNCS(funcs));
