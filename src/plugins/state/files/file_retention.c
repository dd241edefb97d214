/* file_retention.c - state file.retention_schedule: of many backups in a folder, keeps some by their age.
 * Each rule marks the backups that it keeps; what no rule marks is removed. Times come from the names
 * (strptime_format) or from the files. */
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"

/* Year, month, day, hour; and year, ISO week, day of the week: what "the first of" counts by. As in Salt the
 * year is the calendar's in both, so that a week over the turn of the year counts as two. */
enum { BY_DATE = 4, BY_WEEK = 3 };
/* The first that has four digits. */
enum { FIRST_YEAR = 1000 };

/* A file of the folder. `stamp`: seconds since 1970. */
typedef struct backup {
    char *name;
    int date[BY_DATE], week[BY_WEEK];
    double stamp;
    bool kept;
} backup_t;

/* All backups, the newest first; `ignored` are names that have no time in them. */
typedef struct folder {
    backup_t *v;
    size_t n;
    json_t *ignored;
} folder_t;

static void
folder_free(folder_t *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->v[i].name);
    free(f->v);
    json_decref(f->ignored);
}
#define folder_auto_t __attribute__((cleanup(folder_free))) folder_t

/* ---- reading the folder ------------------------------------------------------------------------ */

/* Validates a parsed time and computes its timestamp into *ret_stamp. The C library also accepts 31 February,
 * a leap second, and a one-digit year, all of which Python rejects. Fills the weekday. */
static bool
is_real(struct tm *tm, double *ret_stamp)
{
    const struct tm given = *tm;

    *ret_stamp = (double) timegm(tm);
    return tm->tm_mday == given.tm_mday && tm->tm_sec == given.tm_sec && tm->tm_year + 1900 >= FIRST_YEAR;
}

/* The time in a name, or of a file's last change: 1; 0: the file is not meant; or a negative errno. */
static int
file_retention_time_of(const char *folder, const char *name, const char *format, struct tm *tm,
                       double *ret_stamp)
{
    AUTO_FREE char *path = fop_join2(folder, name);
    struct stat st;

    memset(tm, 0, sizeof(*tm));
    if (format != NULL) {
        tm->tm_mday = 1;
        const char *rest = strptime(name, format, tm);
        return rest != NULL && *rest == '\0' && is_real(tm, ret_stamp);
    }
    if (lstat(path, &st) != 0)
        return fs_is_absence(-errno) ? 0 : -errno;
    localtime_r(&st.st_mtim.tv_sec, tm);
    *ret_stamp = (double) st.st_mtim.tv_sec + (double) st.st_mtim.tv_nsec / 1e9;
    return 1;
}

/* Week of the year by ISO 8601, 1 to 53. */
static int
iso_week(const struct tm *tm)
{
    char text[8];
    long long week = 0;

    strftime(text, sizeof(text), "%V", tm);
    (void) str_to_int(text, 1, 53, &week);
    return (int) week;
}

static int
file_retention_newest_first(const void *a, const void *b)
{
    const backup_t *x = a, *y = b;

    return (x->stamp < y->stamp) - (x->stamp > y->stamp);
}

/* 0, or a negative errno: what is kept is known when all of them are. */
static int
read_folder(const char *path, const char *format, folder_t *f)
{
    DIR *dir = opendir(path);
    int rc = dir == NULL ? -errno : 0;

    f->ignored = json_pack("[s, s]", ".", ".."); /* as file.readdir names them */
    for (const struct dirent *entry; dir != NULL && rc == 0 && (entry = fs_next(dir, &rc)) != NULL;) {
        struct tm tm;
        backup_t b = { 0 };
        int meant = file_retention_time_of(path, entry->d_name, format, &tm, &b.stamp);
        if (meant < 0)
            rc = meant;
        if (meant <= 0) {
            json_array_append_new(f->ignored, value_utf8(entry->d_name, strlen(entry->d_name)));
            continue;
        }
        b.name = xstrdup(entry->d_name);
        const int date[BY_DATE] = { tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour };
        const int week[BY_WEEK] = { tm.tm_year, iso_week(&tm), (tm.tm_wday + 6) % 7 };
        memcpy(b.date, date, sizeof(date));
        memcpy(b.week, week, sizeof(week));
        f->v = xrealloc(f->v, (f->n + 1) * sizeof(b));
        f->v[f->n++] = b;
    }
    if (dir != NULL)
        closedir(dir);
    if (f->n > 0)
        qsort(f->v, f->n, sizeof(*f->v), file_retention_newest_first);
    return rc;
}

/* ---- rules ------------------------------------------------------------------------------------- */

static const struct rule {
    const char *name;
    int depth; /* how many parts of the date make a group; -1: the week; 5: each for itself */
} rules[] = {
    { "first_of_year", 1 }, { "first_of_month", 2 }, { "first_of_day", 3 },
    { "first_of_hour", 4 }, { "most_recent", 5 },    { "first_of_week", -1 },
};

/* True when both lie in the same year, month, day, hour or ISO week. */
static bool
same_group(const backup_t *a, const backup_t *b, int depth)
{
    if (depth < 0)
        return memcmp(a->week, b->week, 2 * sizeof(int)) == 0;
    return depth <= BY_DATE && memcmp(a->date, b->date, (size_t) depth * sizeof(int)) == 0;
}

/* "all" keeps every group. -EINVAL for an unknown rule or count, before anything is removed. */
static int
apply_rule(folder_t *f, const char *name, const json_t *count, fail_t *err)
{
    AUTO_FREE char *must = xasprintf("'%s' of file.retention_schedule must be an integer or 'all'", name);
    double n = INFINITY;

    for (size_t i = 0; i < NELEMS(rules); i++) {
        if (!str_eq(rules[i].name, name))
            continue;
        if (!str_eq(json_string_value(count), "all") && fop_int(count, must, &n, err) != 0)
            return -EINVAL;

        /* The oldest of each of the last `count` groups. Salt keeps one week more than is asked for, without a
         * reason; fewer here would remove backups that it keeps. */
        double left = rules[i].depth < 0 ? n + 1 : n;
        for (size_t at = 0; at < f->n && left >= 1; left--) {
            size_t last = at;
            while (last + 1 < f->n && same_group(&f->v[at], &f->v[last + 1], rules[i].depth))
                last++;
            f->v[last].kept = true;
            at = last + 1;
        }
        return 0;
    }
    return fail_set(err, -EINVAL, "'%s' is not a rule of file.retention_schedule", name);
}

/* ---- the state --------------------------------------------------------------------------------- */

/* Names of those that are kept, or of the others, sorted as Salt tells them. NEW. */
static json_t *
file_retention_names(const folder_t *f, bool kept)
{
    json_auto_t *list = json_array();

    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i].kept == kept)
            json_array_append_new(list, value_utf8(f->v[i].name, strlen(f->v[i].name)));
    }
    return fstate_sorted(list, true);
}

/* Without any rule everything would be removed, which is refused. */
static int
retention_body(fstate_t *s, fail_t *err)
{
    folder_auto_t f = { NULL, 0, NULL };
    fail_auto_t why = FAIL_INIT;
    const char *rule;
    json_t *count;

    int dir = fstate_is_dir(s, s->name);
    if (dir <= 0)
        return dir < 0 ? 0 : fstate_error(s, "Name provided to file.retention must be a directory");
    if (json_object_size(fstate_arg(s, "retain")) == 0)
        return fail_set(
            err, -EINVAL,
            "retain of file.retention_schedule names no rule, so nothing would be kept; name one, "
            "such as most_recent: 5");
    /* Holds the folder of the backups open: its owner may replace it by a link between the check and the removal. */
    AUTO_FD held = fop_hold_folder(s->name, &why);
    AUTO_FREE char *at = xasprintf("/proc/self/fd/%d", held);
    if (held < 0)
        return fstate_error(s, "%s", fail_text(&why));
    int rc = read_folder(at, fstate_str(s, "strptime_format"), &f);
    if (rc < 0)
        return fstate_error(s, "%s can't be read: %s", s->name, strerror(-rc));
    json_object_foreach (fstate_arg(s, "retain"), rule, count) {
        if (apply_rule(&f, rule, count, err) != 0)
            return -EINVAL;
    }
    json_auto_t *deleted = file_retention_names(&f, false);
    size_t n = json_array_size(deleted);
    if (n > 0)
        state_change_set(s->ret, json_pack("{s:o, s:O, s:o}", "retained", file_retention_names(&f, true),
                                           "deleted", deleted, "ignored", fstate_sorted(f.ignored, true)));
    if (s->test)
        return state_ret_set(s->ret, n > 0 ? STATE_NONE : STATE_TRUE,
                             "%zu backups would have been removed from %s.\n", n, s->name);

    for (size_t i = 0; i < f.n; i++) {
        AUTO_FREE char *path = fop_join2(s->name, f.v[i].name);
        if (!f.v[i].kept && fop_remove_below(held, s->name, path, err) != 0)
            return -EIO;
    }

    return state_ret_set(s->ret, STATE_TRUE, "%zu backups were removed from %s.\n", n, s->name);
}

static FILE_STATE(file_state_retention, "Must provide name to file.retention_schedule", retention_body);

/* ---- table ------------------------------------------------------------------------------------- */

static const arg_t retention_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The folder"),
    ARG("retain", ARG_DICT, ARG_REQUIRED,
        "How many to keep of most_recent, first_of_hour, first_of_day, first_of_week, first_of_month, "
        "first_of_year; all: every one"),
    STATE_TEXT("strptime_format", "null",
               "How a name tells the time; by default the file's last change counts"),
    STATE_ANY("timezone", "null", "Accepted and not used: the host's"), ARGS_END
};

static const func_t funcs[] = {
    { "retention_schedule", file_state_retention, retention_args, 0,
      "Remove backups from a folder, except some by their age.\n\nFiles whose name does not fit "
      "``strptime_format`` "
      "are left alone." },
};

PLUGIN(state, file_retention, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
