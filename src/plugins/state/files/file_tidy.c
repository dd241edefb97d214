/* file_tidy.c - states that remove what is old, large or empty: file.tidied, pruned. tidied looks at the
 * whole tree first and removes afterwards, through the folder held open, so that nothing is removed when the
 * look fails, and no link placed meanwhile leads elsewhere. */
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/tree.h"

enum { DAY = 86400 };

/* ---- tidied ---------------------------------------------------------------------------------- */

/* How age and size decide together. */
typedef enum judge { BY_EITHER, BY_BOTH, BY_AGE, BY_SIZE } judge_t;

/* A run of file.tidied. `age` is in days, `size` in bytes. */
typedef struct tidy {
    fstate_t *s;
    int top;                   /* the folder, held open */
    rx_t **matches, **exclude; /* owned, end with NULL */
    double age, size;
    judge_t judge;
    char clock; /* a, c or m */
    bool dirs, links, full, follow;
    time_t today;
    lines_t found; /* paths: a file's name may be no text */
} tidy_t;

/* True for a list of texts, or nothing. */
static bool
are_texts(const json_t *list)
{
    size_t i;
    json_t *v;

    json_array_foreach (list, i, v) {
        if (!json_is_string(v))
            return false;
    }
    return json_is_array(list) || !value_truthy(list);
}

/* The regular expressions of a list. What is not a list of texts is not guessed at: files are removed by it.
 * NEW, or NULL with *err. */
static rx_t **
file_tidy_compile(const json_t *patterns, const char *what, fail_t *err)
{
    if (!are_texts(patterns)) {
        AUTO_FREE char *shown = value_repr(patterns);
        fail_set(err, -EINVAL, "%s of file.tidied must be a list of regular expressions, not %s", what,
                 shown);
        return NULL;
    }
    size_t n = json_array_size(patterns);
    rx_t **all = xcalloc(n + 1, sizeof(rx_t *));

    for (size_t i = 0; i < n; i++) {
        all[i] = rx_new(json_string_value(json_array_get(patterns, i)), 0, err);
        if (all[i] != NULL)
            continue;
        for (rx_t **rx = all; *rx != NULL; rx++)
            rx_destroy(rx);
        free(all);
        return NULL;
    }
    return all;
}

/* `doubt` is the answer of an expression that gave up. */
static bool
any_match(rx_t **all, const char *text, bool doubt)
{
    for (; *all != NULL; all++) {
        int found = rx_match(*all, text, strlen(text), 0, NULL);
        if (found > 0 || (found < 0 && doubt))
            return true;
    }
    return false;
}

/* Days between two moments' dates on this host's calendar. */
static json_int_t
days_between(time_t now, time_t then)
{
    struct tm a, b;

    localtime_r(&now, &a);
    localtime_r(&then, &b);
    a.tm_hour = b.tm_hour = 12;
    a.tm_min = a.tm_sec = b.tm_min = b.tm_sec = 0;
    a.tm_isdst = b.tm_isdst = -1;
    double seconds = difftime(mktime(&a), mktime(&b));
    return (json_int_t) ((seconds < 0 ? -seconds : seconds) / DAY + 0.5);
}

/* Judges age in calendar days and size; folders and links have no size. */
static bool
old_or_large(const tidy_t *t, const struct stat *st)
{
    time_t stamp = t->clock == 'c' ? st->st_ctime : t->clock == 'm' ? st->st_mtime : st->st_atime;
    bool old = (double) days_between(t->today, stamp) >= t->age;
    bool large = (S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode) ? 0 : (double) st->st_size) >= t->size;

    switch (t->judge) {
    case BY_AGE:
        return old;
    case BY_SIZE:
        return large;
    case BY_BOTH:
        return old && large;
    case BY_EITHER:
        break;
    }
    return old || large;
}

/* Negative with *err when it can't be looked at. */
static int
consider(tidy_t *t, const char *path, bool is_dir, fail_t *err)
{
    const char *name = t->full ? path : fop_basename(path);
    /* Each byte that is not text is one character to Python's expressions, and to ours in this form. */
    json_auto_t *text = value_utf8(name, strlen(name));
    struct stat st;

    if (lstat(path, &st) != 0)
        return fs_is_absence(-errno) ? 0 : fop_oserror(err, errno, path);
    bool link = S_ISLNK(st.st_mode);
    if ((link ? t->links : !is_dir || t->dirs) && old_or_large(t, &st) &&
        any_match(t->matches, json_string_value(text), false) &&
        !any_match(t->exclude, json_string_value(text), true))
        lines_append(&t->found, path);
    return 0;
}

/* A folder that is looked into. Negative with *err. */
static int
leads_on(const tidy_t *t, const char *path, fail_t *err)
{
    int link = t->follow ? 0 : fop_lexists_as(path, S_IFLNK, err);

    return link < 0 ? link : link == 0;
}

/* Visits a tree depth-first: subfolders' contents, then files, then folders. Negative with *err when a folder
 * can't be read: an unread folder is not reported as tidy. */
static int
file_tidy_look(tidy_t *t, const char *top, int depth, fail_t *err)
{
    char **names = NULL;
    int rc = depth < LIMIT_JSON_DEPTH ? fs_names(top, &names, err) : 0;

    for (int pass = 0; pass < 3 && names != NULL; pass++) {
        for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
            AUTO_FREE char *path = fop_join2(top, names[i]);
            int dir = fop_leads_to(path, S_IFDIR, err),
                on = pass == 0 && dir > 0 ? leads_on(t, path, err) : 0;
            if (dir < 0 || on < 0)
                rc = dir < 0 ? dir : on;
            else if (on > 0)
                rc = file_tidy_look(t, path, depth + 1, err);
            else if (pass == (dir > 0 ? 2 : 1))
                rc = consider(t, path, dir > 0, err);
        }
    }
    strv_free(names);
    return rc;
}

/* "10k", "1.5 MiB": bytes. KB is a thousand; K and KiB are 1024. False: it is not a size. */
static bool
file_tidy_bytes_of(const json_t *size, double *ret_n)
{
    static const char units[] = "bkmgtpezy";

    *ret_n = json_number_value(size);
    if (!json_is_string(size))
        return json_is_number(size);
    AUTO_FREE char *copy = xstrdup(json_string_value(size));
    const char *text = str_trim(copy), *unit = text + strspn(text, "0123456789.");
    char *end;
    double n = strtod(text, &end);
    bool number = end == unit && unit != text;
    unit += strspn(unit, " ");
    const char *power = *unit != '\0' ? strchr(units, tolower((unsigned char) *unit)) : units;
    const char *rest = *unit != '\0' ? unit + 1 : unit;
    bool metric = strcasecmp(rest, "b") == 0;
    if (!number || power == NULL ||
        (*rest != '\0' && (power == units || (!metric && strcasecmp(rest, "ib") != 0))))
        return false;
    for (; power > units; power--)
        n *= metric ? 1000 : 1024;
    *ret_n = trunc(n);
    return true;
}

/* True when the argument is that word, in any case of letters. */
static bool
file_tidy_is_word(const fstate_t *s, const char *key, const char *word)
{
    const char *text = fstate_str(s, key);

    return text != NULL && strcasecmp(text, word) == 0;
}

/* Reads the arguments. 0, or negative with *err. Words that are none of Salt's mean the default. */
static int
read_tidy(tidy_t *t, fail_t *err)
{
    fstate_t *s = t->s;
    json_auto_t *all = json_pack("[s]", ".*");
    json_t *matches = fstate_arg(s, "matches"), *exclude = fstate_arg(s, "exclude");

    t->matches = file_tidy_compile(matches != NULL ? matches : all, "matches", err);
    t->exclude = t->matches != NULL ? file_tidy_compile(exclude, "exclude", err) : NULL;
    t->judge = file_tidy_is_word(s, "age_size_only", "age")               ? BY_AGE
               : file_tidy_is_word(s, "age_size_only", "size")            ? BY_SIZE
               : file_tidy_is_word(s, "age_size_logical_operator", "and") ? BY_BOTH
                                                                          : BY_EITHER;
    t->clock = file_tidy_is_word(s, "time_comparison", "ctime")   ? 'c'
               : file_tidy_is_word(s, "time_comparison", "mtime") ? 'm'
                                                                  : 'a';
    t->dirs = fstate_on(s, "rmdirs", false);
    t->links = fstate_on(s, "rmlinks", true);
    t->full = fstate_on(s, "full_path_match", false);
    t->follow = fstate_on(s, "followlinks", false);
    t->today = time(NULL);
    if (t->exclude == NULL)
        return -EINVAL;

    /* age and size. What can't be read is no 0, which would be everything. */
    json_t *age = value_get(t->s->args, "age"), *size = value_get(t->s->args, "size");
    t->age = json_number_value(age);
    if (!json_is_number(age) && fop_int(age, "age of file.tidied must be an integer", &t->age, err) != 0)
        return -EINVAL;
    if (file_tidy_bytes_of(size, &t->size))
        return 0;
    AUTO_FREE char *shown = value_repr(size);
    return fail_set(err, -EINVAL,
                    "size of file.tidied must be a number of bytes like 100, 10k or 5MB, not %s", shown);
}

/* Adds a path to a list of the return, which holds texts alone. */
static void
file_tidy_note_path(json_t *list, const char *path)
{
    json_array_append_new(list, value_utf8(path, strlen(path)));
}

/* Between the look and now anybody who owns a part of the folder may have put a link there. What can't be
 * removed keeps nothing else from it. */
static int
file_tidy_sweep(tidy_t *t)
{
    fstate_t *s = t->s;
    json_t *removed = json_array();
    fail_auto_t why = FAIL_INIT;

    for (size_t i = 0; i < t->found.n; i++) {
        const char *path = t->found.v[i];
        fail_auto_t one = FAIL_INIT;
        int rc = t->follow ? fop_remove(path, &one) : fop_remove_below(t->top, s->name, path, &one);
        if (rc >= 0)
            file_tidy_note_path(removed, path);
        else if (why.code == 0)
            fail_set(&why, rc, "%s", fail_text(&one));
    }
    size_t n = json_array_size(removed);
    state_change(s->ret, "removed", removed);
    if (why.code != 0)
        return fstate_error(s, "%s", fail_text(&why));
    return state_ret_set(s->ret, STATE_TRUE, "Removed %zu files or directories from directory %s", n,
                         s->name);
}

/* 0 when the return is made, also with a failure; negative with *err. */
static int
tidied_body(fstate_t *s, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FD top = fop_hold_folder(s->name, &why);
    tidy_t t = { .s = s, .top = top };
    int rc = 0;

    if (*s->name != '/')
        return fstate_error(s, "Specified file %s is not an absolute path", s->name);
    int dir = fstate_is_dir(s, s->name);
    if (dir <= 0)
        return dir < 0 ? 0 : fstate_error(s, "%s does not exist or is not a directory.", s->name);
    if (top < 0)
        return fstate_error(s, "%s", fail_text(&why));
    rc = read_tidy(&t, err);
    bool seen = rc == 0 && file_tidy_look(&t, s->name, 0, &why) == 0;
    if (rc == 0 && !seen) {
        (void) fstate_error(s, "%s", fail_text(&why));
    } else if (rc == 0 && t.found.n == 0) {
        (void) state_ret_set(s->ret, STATE_TRUE, "Nothing to remove from directory %s", s->name);
    } else if (rc == 0 && s->test) {
        /* Test mode: lists what would go. */
        json_t *list = json_array();
        for (size_t i = 0; i < t.found.n; i++)
            file_tidy_note_path(list, t.found.v[i]);
        state_change(t.s->ret, "removed", list);
        (void) state_ret_set(t.s->ret, STATE_NONE, "%s is set for tidy", t.s->name);
    } else if (rc == 0) {
        rc = file_tidy_sweep(&t);
    }

    rx_t **lists[2] = { t.matches, t.exclude };

    for (size_t i = 0; i < 2; i++) {
        for (rx_t **rx = lists[i]; rx != NULL && *rx != NULL; rx++)
            rx_destroy(rx);
        free(lists[i]);
    }
    lines_free(&t.found);

    return rc;
}

/* ---- pruned ---------------------------------------------------------------------------------- */

/* Removes empty folders by file.rmdir, recursively when asked. */
static int
pruned_body(fstate_t *s, fail_t *err)
{
    bool ignore = fstate_on(s, "ignore_errors", false), recurse = ignore || fstate_on(s, "recurse", false);

    int dir = fstate_is_dir(s, s->name);
    if (dir <= 0)
        return dir < 0 ? 0 : state_ret_set(s->ret, STATE_TRUE, "Directory %s is not present", s->name);
    if (s->test) {
        fstate_note(s, "deleted", s->name);
        return state_ret_set(s->ret, STATE_NONE, "Directory %s is set for removal", s->name);
    }
    json_auto_t *res = fstate_call(s, file_rmdir,
                                   json_pack("{s:s, s:b, s:b, s:O?}", "path", s->name, "recurse", recurse,
                                             "verbose", 1, "older_than", fstate_arg(s, "older_than")),
                                   err);
    if (res == NULL)
        return err->code;
    bool ok = value_bool(res, "result", false);
    json_t *deleted = value_get(res, "deleted");
    if (recurse && (ok || ignore) && json_array_size(deleted) > 0) {
        state_change(s->ret, "deleted", fstate_sorted(deleted, false));
        return state_ret_set(s->ret, STATE_TRUE, "Recursively removed empty directories under %s", s->name);
    }
    if (ok && recurse)
        return 0;
    if (ok) {
        fstate_note(s, "deleted", s->name);
        return state_ret_set(s->ret, STATE_TRUE, "Removed directory %s", s->name);
    }
    json_object_del(res, "result");
    state_change_set(s->ret, json_incref(res));
    return fstate_error(s, "Failed to remove directory %s", s->name);
}

static FILE_STATE(file_state_tidied, "Must provide name to file.tidied", tidied_body);
static FILE_STATE(file_state_pruned, "Must provide name to file.pruned", pruned_body);

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t tidied_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The folder"),
    STATE_ANY("age", "0", "Remove what is at least so many days old"),
    STATE_ANY("matches", "null", "Regular expressions, of which one must match the name's start"),
    STATE_ANY("rmdirs", "false", "Folders too"),
    STATE_ANY("size", "0", "Remove what is at least so large: 100, 10k, 5M"),
    STATE_ANY("exclude", "null", "Regular expressions of what stays"),
    STATE_ANY("full_path_match", "false", "The expressions are for whole paths"),
    STATE_ANY("followlinks", "false", "Look into folders that links point to"),
    STATE_ANY("time_comparison", "\"atime\"", "atime, ctime or mtime"),
    STATE_ANY("age_size_logical_operator", "\"OR\"", "AND: old and large"),
    STATE_ANY("age_size_only", "null", "age or size: the other does not count"),
    STATE_ANY("rmlinks", "true", "Links too"),
    STATE_KWARGS,
    ARGS_END
};
static const arg_t pruned_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The folder"), STATE_ANY("recurse", "false", "Empty folders below too"),
    STATE_ANY("ignore_errors", "false", "Folders that are not empty are not failures"),
    STATE_ANY("older_than", "null", "Only what is older than so many days"), ARGS_END
};

static const func_t funcs[] = {
    { "pruned", file_state_pruned, pruned_args, 0,
      "Make sure that there is no such folder, if it is empty." },
    { "tidied", file_state_tidied, tidied_args, 0,
      "Remove files below a folder by age, size and name.\n\nWithout ``age`` and ``size`` every file goes." },
};

PLUGIN(state, file_tidy, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
