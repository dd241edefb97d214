/* find.c - file.find: walks a tree, filters its entries by criteria and runs actions on those that fit. Each
 * option is one row of `kinds`, which parses its value and either matches or acts. Criteria are evaluated in
 * order of cost, so that a file is read only when name and status fit. Contents, names and options follow
 * salt.utils.find. */
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "common/host/prog.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/text.h"

enum { OVERLAP = 1024 * 1024 }; /* of the windows by which a large file is searched */

/* One path under examination; its status is read when the first criterion asks for it. */
typedef struct entry {
    const char *path, *name;
    struct stat st;
    bool has_stat;
} entry_t;

typedef struct option option_t;
typedef struct finder finder_t;

typedef struct option_kind {
    const char *name;
    int (*parse)(option_t *o, const char *value, fail_t *err);
    int (*match)(option_t *o, entry_t *e, fail_t *err); /* 1, 0, negative errno; NULL: no criterion */
    json_t *(*act)(const finder_t *f, option_t *o, entry_t *e,
                   fail_t *err); /* NEW, NULL: nothing; NULL: no action */
    int order;                   /* what is cheap is asked first: names, then stat, then contents */
} option_kind_t;

struct option {
    const option_kind_t *kind;
    rx_t *rx;
    char *text;      /* exec's command, print's words */
    mode_t types[8]; /* of type and delete */
    size_t n_types;
    json_int_t ids[64]; /* of owner and group */
    size_t n_ids;
    double min, max; /* of size; of mtime the moment is in min */
    bool newer;
};

struct finder {
    option_t *options;
    size_t n;
    json_int_t mindepth, maxdepth; /* maxdepth -1: none */
    bool test;
    const char *top; /* where it starts now, and the folder itself, held open; -1: it is none */
    int top_fd;
    json_t *found; /* list */
};

/* Turns the error of an entry into a verdict: 0 when access is denied (as fop_names() has it of a folder) or
 * the entry is gone; else the errno, with *err. */
static int
unless_closed(int rc, const fail_t *why, fail_t *err)
{
    return rc >= 0 || rc == -EACCES || fs_is_absence(rc) ? 0 : fail_set(err, rc, "%s", fail_text(why));
}

/* Reads the entry's status once, following links; a dangling link has its own status. 1, 0 when it can't be
 * seen, or negative with *err. */
static int
need_stat(entry_t *e, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int there = e->has_stat ? 1 : fop_stat_or_link(e->path, &e->st, &why);

    e->has_stat = there > 0;
    return there > 0 ? 1 : unless_closed(there, &why, err);
}

/* ---- criteria -------------------------------------------------------------------------------- */

/* Salt's glob: '.' is literal, '?' one character or none, '*' any; everything else is left to the regular
 * expression engine, which is anchored by '$' and by rx_match at the start. */
static int
parse_pattern(option_t *o, const char *value, unsigned flags, fail_t *err)
{
    buf_auto_t pattern = BUF_INIT;

    for (; *value != '\0'; value++)
        buf_printf(&pattern,
                   *value == '.'   ? "\\."
                   : *value == '?' ? ".?"
                   : *value == '*' ? ".*"
                                   : "%c",
                   *value);
    buf_putc(&pattern, '$');
    o->rx = rx_new(buf_str(&pattern), flags, err);
    return o->rx == NULL ? -EINVAL : 0;
}

static int
find_parse_name(option_t *o, const char *value, fail_t *err)
{
    return parse_pattern(o, value, 0, err);
}

static int
parse_iname(option_t *o, const char *value, fail_t *err)
{
    return parse_pattern(o, value, RX_IGNORECASE, err);
}

static int
parse_rx(option_t *o, const char *value, unsigned flags, fail_t *err)
{
    o->rx = rx_new(value, flags, NULL);
    return o->rx != NULL ? 0 : fail_set(err, -EINVAL, "invalid regular expression: \"%s\"", value);
}

static int
parse_regex(option_t *o, const char *value, fail_t *err)
{
    return parse_rx(o, value, 0, err);
}

static int
parse_iregex(option_t *o, const char *value, fail_t *err)
{
    return parse_rx(o, value, RX_IGNORECASE, err);
}

/* Anchored at the start of the name, as Python's re.match. */
static int
find_match_name(option_t *o, entry_t *e, fail_t *err)
{
    return rx_match(o->rx, e->name, strlen(e->name), 0, err);
}

static const struct {
    char letter;
    mode_t type;
} file_types[] = { { 'b', S_IFBLK }, { 'c', S_IFCHR }, { 'd', S_IFDIR }, { 'f', S_IFREG },
                   { 'l', S_IFLNK }, { 'p', S_IFIFO }, { 's', S_IFSOCK } };

/* Letters of file types, blanks and commas ignored; more than eight are dropped as they can only repeat. */
static int
parse_type(option_t *o, const char *value, fail_t *err)
{
    for (; *value != '\0'; value++) {
        size_t i = 0;
        if (*value == ',' || isspace((unsigned char) *value))
            continue;
        while (i < NELEMS(file_types) && file_types[i].letter != *value)
            i++;
        if (i == NELEMS(file_types))
            return fail_set(err, -EINVAL, "invalid file type \"%c\"", *value);
        if (o->n_types < NELEMS(o->types))
            o->types[o->n_types++] = file_types[i].type;
    }
    return 0;
}

static int
match_type(option_t *o, entry_t *e, fail_t *err)
{
    /* stat follows links, so a link is one only when it is asked for or dangles. */
    fail_auto_t why = FAIL_INIT;
    int there = need_stat(e, err), link = 0;

    for (size_t i = 0; there > 0 && i < o->n_types; i++) {
        if (o->types[i] == S_IFLNK)
            link = fop_lexists_as(e->path, S_IFLNK, &why);
        if (link > 0 || o->types[i] == (e->st.st_mode & S_IFMT))
            return 1;
    }
    return there < 0 ? there : unless_closed(link, &why, err);
}

/* Names or numbers, by the function that knows the names. */
static int
find_parse_ids(option_t *o, const char *value, bool user, fail_t *err)
{
    char **words = str_split(value, ", \t", true);
    int rc = 0;

    for (size_t i = 0; rc == 0 && words[i] != NULL; i++) {
        json_auto_t *name = json_string(words[i]);
        long long id;
        uid_t uid;
        gid_t gid;
        if (!str_to_int(words[i], 0, UINT32_MAX, &id)) {
            if (user ? !fop_uid_of(name, &uid) : !fop_gid_of(name, &gid))
                rc = fail_set(err, -EINVAL, "no such %s \"%s\"", user ? "user" : "group", words[i]);
            else
                id = user ? (long long) uid : (long long) gid;
        }
        if (rc == 0 && o->n_ids == NELEMS(o->ids))
            rc = fail_set(err, -E2BIG, "more than %zu %s names", NELEMS(o->ids), user ? "user" : "group");
        if (rc == 0)
            o->ids[o->n_ids++] = id;
    }
    strv_free(words);
    return rc;
}

static int
parse_owner(option_t *o, const char *value, fail_t *err)
{
    return find_parse_ids(o, value, true, err);
}

static int
find_parse_group(option_t *o, const char *value, fail_t *err)
{
    return find_parse_ids(o, value, false, err);
}

/* True when the id is among those that the option lists. */
static int
match_id(const option_t *o, json_int_t id)
{
    for (size_t i = 0; i < o->n_ids; i++) {
        if (o->ids[i] == id)
            return 1;
    }
    return 0;
}

static int
match_owner(option_t *o, entry_t *e, fail_t *err)
{
    int there = need_stat(e, err);

    return there > 0 ? match_id(o, e->st.st_uid) : there;
}

static int
match_group(option_t *o, entry_t *e, fail_t *err)
{
    int there = need_stat(e, err);

    return there > 0 ? match_id(o, e->st.st_gid) : there;
}

/* "10k": up to one unit less than 11k; "+10k": from there up; "-10k": up to there. */
static int
find_parse_size(option_t *o, const char *value, fail_t *err)
{
    static const char units[] = "bkmgt";
    AUTO_FREE char *copy = xstrdup(value);
    char *p = str_trim(copy), *end = NULL;
    char style = *p == '-' || *p == '+' ? *p++ : '=';
    size_t len = strlen(p);
    const char *unit = len > 0 ? strchr(units, tolower((unsigned char) p[len - 1])) : NULL;
    double factor = unit != NULL ? pow(1024, (double) (unit - units)) : 1;

    if (unit != NULL)
        p[len - 1] = '\0';
    p = str_trim(p);
    double n = floor(strtod(p, &end) * factor);
    if (end == p || *end != '\0')
        return fail_set(err, -EINVAL, "invalid size: \"%s\"", value);
    o->min = style == '-' ? 0 : n;
    o->max = style == '-' ? n : style == '+' ? HUGE_VAL : n + factor - 1;
    return 0;
}

static int
match_size(option_t *o, entry_t *e, fail_t *err)
{
    int there = need_stat(e, err);

    return there > 0 ? o->min <= (double) e->st.st_size && (double) e->st.st_size <= o->max : there;
}

/* "3d", "+1w2d", "-30m": the parts in falling order. The last part is the unit that is counted in. */
static int
parse_mtime(option_t *o, const char *value, fail_t *err)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = { { 'w', 604800 }, { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
    const char *p = value + strspn(value, " \t");
    double total = 0, resolution = 0;

    o->newer = *p == '-';
    p += *p == '-' || *p == '+';
    for (size_t i = 0; i < NELEMS(units); i++) {
        char *end = NULL;
        p += strspn(p, " \t");
        double n = isdigit((unsigned char) *p) ? strtod(p, &end) : 0;
        if (end == NULL)
            continue;
        end += strspn(end, " \t");
        if (tolower((unsigned char) *end) != units[i].letter)
            continue;
        total += n * units[i].seconds;
        resolution = units[i].seconds;
        p = end + 1;
    }
    p += strspn(p, " \t");
    if (*p != '\0' || resolution == 0)
        return fail_set(err, -EINVAL, "invalid time interval: '%s'", value);
    o->min = (double) time(NULL) - floor(total / resolution) * resolution;
    return 0;
}

/* "-3d" is newer than that moment, without a sign or with "+" it is older. */
static int
match_mtime(option_t *o, entry_t *e, fail_t *err)
{
    int there = need_stat(e, err);

    if (there <= 0)
        return there;
    return o->newer ? (double) e->st.st_mtime >= o->min : (double) e->st.st_mtime <= o->min;
}

/* Others may cut the file meanwhile: nothing of it is mapped. A large one is searched window by window,
 * each of which begins with the end of the one before. */
static int
match_grep(option_t *o, entry_t *e, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    struct stat st;
    fail_auto_t why = FAIL_INIT;
    int there = need_stat(e, err), found = 0;

    if (there <= 0 || !S_ISREG(e->st.st_mode))
        return there < 0 ? there : 0;
    AUTO_FD fd = fop_open_to_read(e->path, &st, &why);
    if (fd < 0)
        return unless_closed(fd, &why, err);
    bool more = true;
    for (off_t at = 0; more && found == 0; at += LIMIT_FILE_READ - OVERLAP) {
        /* As much as there is from `at` on, and LIMIT_FILE_READ at most. */
        int rc = 0;
        text.len = 0;
        while (text.len < LIMIT_FILE_READ) {
            size_t left = LIMIT_FILE_READ - text.len, want = left < OVERLAP ? left : OVERLAP;
            buf_reserve(&text, want);
            ssize_t n = pread(fd, text.data + text.len, want, at + (off_t) text.len);
            if (n == 0 || (n < 0 && errno != EINTR)) {
                rc = n == 0 ? 0 : -errno;
                break;
            }
            text.len += n > 0 ? (size_t) n : 0;
        }

        if (rc < 0)
            return fop_oserror(err, -rc, e->path);
        more = text.len == LIMIT_FILE_READ;
        found = text.len > 0 || at == 0 ? rx_search(o->rx, text.len > 0 ? text.data : "", text.len, 0, err)
                                        : 0;
    }
    return found;
}

/* ---- actions --------------------------------------------------------------------------------- */

static json_t *
print_path(const entry_t *e)
{
    return value_utf8(e->path, strlen(e->path));
}

static json_t *
print_name(const entry_t *e)
{
    const char *name = fop_basename(e->path);

    return value_utf8(name, strlen(name));
}

static json_t *
print_size(const entry_t *e)
{
    return json_integer(e->st.st_size);
}

static json_t *
print_type(const entry_t *e)
{
    for (size_t i = 0; i < NELEMS(file_types); i++) {
        if (file_types[i].type == (e->st.st_mode & S_IFMT))
            return json_stringn(&file_types[i].letter, 1);
    }
    return json_string("?");
}

static json_t *
print_mode(const entry_t *e)
{
    return json_integer(e->st.st_mode & 0777);
}

static json_t *
print_mtime(const entry_t *e)
{
    return json_integer(e->st.st_mtime);
}

static json_t *
print_user(const entry_t *e)
{
    return fop_user_name(e->st.st_uid);
}

static json_t *
print_group(const entry_t *e)
{
    return fop_group_name(e->st.st_gid);
}

/* Only files have one; others, and what can't be read, have "". */
static json_t *
print_md5(const entry_t *e)
{
    char *hex = NULL;

    if (S_ISREG(e->st.st_mode))
        (void) digest_file(e->path, "md5", &hex, NULL);
    json_t *text = json_string(hex != NULL ? hex : "");
    free(hex);
    return text;
}

static const struct {
    const char *word;
    json_t *(*print)(const entry_t *e);
} prints[] = {
    { "path", print_path }, { "name", print_name },   { "size", print_size },
    { "type", print_type }, { "mode", print_mode },   { "mtime", print_mtime },
    { "user", print_user }, { "group", print_group }, { "md5", print_md5 },
};

static int
parse_text(option_t *o, const char *value, fail_t *err)
{
    o->text = xstrdup(value);
    return 0;
}

/* One word gives its value, several give a list. Unknown words print nothing, as in Salt. */
static json_t *
act_print(const finder_t *f, option_t *o, entry_t *e, fail_t *err)
{
    json_auto_t *list = json_array();
    char **words = str_split(o->text, ", \t\n", true);

    if (need_stat(e, err) < 0)
        return NULL;
    for (size_t i = 0; words[i] != NULL; i++) {
        for (size_t k = 0; k < NELEMS(prints); k++) {
            if (str_eq(words[i], prints[k].word))
                json_array_append_new(list, prints[k].print(e));
        }
    }
    strv_free(words);
    return json_incref(json_array_size(list) == 1 ? json_array_get(list, 0) : list);
}

/* "a" stands for all types. */
static int
parse_delete(option_t *o, const char *value, fail_t *err)
{
    return parse_type(o, strchr(value, 'a') != NULL ? "bcdpfls" : value, err);
}

/* Deletes the entry and reports its path; NULL reports nothing when the deletion failed, as in Salt. Test
 * mode reports only. */
static json_t *
act_delete(const finder_t *f, option_t *o, entry_t *e, fail_t *err)
{
    bool start = strlen(e->path) <= strlen(f->top);

    /* Removes through the held top folder: the owner of a folder on the way may replace it by a link
     * meanwhile. */
    if (!f->test &&
        (start ? fop_remove(e->path, NULL) : fop_remove_below(f->top_fd, f->top, e->path, NULL)) < 0)
        return NULL;
    return print_path(e);
}

/* The command is parted first, so a path stays one word whatever it contains. */
static json_t *
act_exec(const finder_t *f, option_t *o, entry_t *e, fail_t *err)
{
    prog_auto_t cmd = PROG_INIT;
    AUTO_FREE char *shown = str_replace(o->text, "{}", e->path);
    char **words = prog_split(o->text, err);

    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        AUTO_FREE char *word = str_replace(words[i], "{}", e->path);
        prog_add(&cmd, word);
    }
    bool runnable = words != NULL && words[0] != NULL;
    strv_free(words);
    json_auto_t *ret = runnable ? prog_run_all(&cmd, NULL) : NULL;
    if (ret == NULL)
        return value_fmt("%s: Failed", e->path);
    return value_fmt("%s:\n%s\n", shown, value_str(ret, "stdout", ""));
}

static const option_kind_t kinds[] = {
    { "name", find_parse_name, find_match_name, NULL, 0 },
    { "iname", parse_iname, find_match_name, NULL, 0 },
    { "regex", parse_regex, find_match_name, NULL, 0 },
    { "iregex", parse_iregex, find_match_name, NULL, 0 },
    { "type", parse_type, match_type, NULL, 1 },
    { "owner", parse_owner, match_owner, NULL, 1 },
    { "group", find_parse_group, match_group, NULL, 1 },
    { "size", find_parse_size, match_size, NULL, 1 },
    { "mtime", parse_mtime, match_mtime, NULL, 1 },
    { "grep", parse_regex, match_grep, NULL, 2 },
    { "print", parse_text, NULL, act_print, 0 },
    { "delete", parse_delete, match_type, act_delete, 1 },
    { "exec", parse_text, NULL, act_exec, 0 },
};

/* ---- the walk -------------------------------------------------------------------------------- */

/* Evaluates all criteria, the cheap ones first. 1, 0 or a negative errno. */
static int
find_fits(finder_t *f, entry_t *e, fail_t *err)
{
    for (int order = 0; order <= 2; order++) {
        for (size_t i = 0; i < f->n; i++) {
            option_t *o = &f->options[i];
            if (o->kind->match == NULL || o->kind->order != order)
                continue;
            int rc = o->kind->match(o, e, err);
            if (rc <= 0)
                return rc;
        }
    }
    return 1;
}

/* Compare one path and act on it. */
static int
find_visit(finder_t *f, const char *path, const char *name, fail_t *err)
{
    entry_t e = { .path = path, .name = name };
    int rc = find_fits(f, &e, err);

    for (size_t i = 0; rc == 1 && i < f->n; i++) {
        option_t *o = &f->options[i];
        fail_auto_t why = FAIL_INIT;
        json_t *result = o->kind->act != NULL ? o->kind->act(f, o, &e, &why) : NULL;
        if (result != NULL)
            json_array_append_new(f->found, result);
        else if (why.code != 0)
            rc = fail_set(err, why.code, "%s", fail_text(&why));
    }
    return rc < 0 ? rc : 0;
}

/* Visits the entries of the folder `path`, `depth` levels below the start; does not enter folders through
 * links. */
static int
find_walk(finder_t *f, const char *path, json_int_t depth, fail_t *err)
{
    char **names = NULL;
    bool in_range = depth >= f->mindepth && (f->maxdepth < 0 || f->maxdepth >= depth);
    int rc = depth > LIMIT_JSON_DEPTH ? 0 : fop_names(path, &names, err);
    size_t n = rc == 0 && names != NULL ? strv_len(names) : 0;

    for (size_t i = 0; rc == 0 && in_range && i < n; i++) {
        AUTO_FREE char *full = fop_join2(path, names[i]);
        rc = find_visit(f, full, names[i], err);
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        AUTO_FREE char *full = fop_join2(path, names[i]);
        fail_auto_t why = FAIL_INIT;
        int dir = f->maxdepth < 0 || depth < f->maxdepth ? fop_lexists_as(full, S_IFDIR, &why) : 0;
        rc = dir > 0 ? find_walk(f, full, depth + 1, err) : unless_closed(dir, &why, err);
    }
    strv_free(names);
    return rc;
}

/* ---- options --------------------------------------------------------------------------------- */

static void
finder_free(finder_t *f)
{
    for (size_t i = 0; i < f->n; i++) {
        rx_destroy(&f->options[i].rx);
        free(f->options[i].text);
    }
    free(f->options);
    json_decref(f->found);
}
#define finder_auto_t __attribute__((cleanup(finder_free))) finder_t

/* An option may occur several times: each occurrence is a criterion of its own. */
static int
add_option(finder_t *f, const char *key, const char *value, fail_t *err)
{
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (!str_eq(kinds[i].name, key))
            continue;
        f->options = xrealloc(f->options, (f->n + 1) * sizeof(*f->options));
        option_t *o = &f->options[f->n++];
        *o = (option_t){ .kind = &kinds[i] };
        return kinds[i].parse(o, value, err);
    }
    return fail_set(err, -EINVAL, "invalid option \"%s\"", key);
}

/* mindepth, maxdepth and test steer the walk; true when `key` is one of them. */
static bool
take_setting(finder_t *f, const char *key, const json_t *value)
{
    AUTO_FREE char *text = value_pystr(value);
    long long n = 0;

    if (str_eq(key, "test"))
        f->test = value_truthy(value);
    else if (str_eq(key, "mindepth"))
        f->mindepth = str_to_int(text, 0, INT32_MAX, &n) ? n : 0;
    else if (str_eq(key, "maxdepth"))
        f->maxdepth = str_to_int(text, 0, INT32_MAX, &n) ? n : -1;
    else
        return false;
    return true;
}

/* Keywords first, then the positional words "delete" and "print". Without an action the paths are printed. */
static int
find_add_options(finder_t *f, json_t *args, json_t *kwargs, fail_t *err)
{
    const char *key;
    json_t *value;
    int rc = 0;

    json_object_foreach (kwargs, key, value) {
        if (key[0] == '_' || take_setting(f, key, value))
            continue;
        AUTO_FREE char *text = value_pystr(value);
        if (!value_truthy(value))
            rc = fail_set(err, -EINVAL, "missing value for \"%s\" option", key);
        else
            rc = add_option(f, key, text, err);
        if (rc != 0)
            return rc;
    }
    for (size_t i = 0; i < json_array_size(args); i++) {
        const char *word = json_string_value(json_array_get(args, i));
        if (str_eq(word, "delete"))
            return add_option(f, "delete", "f", err);
        if (str_eq(word, "print"))
            return add_option(f, "print", "path", err);
    }
    bool acts = false;
    for (size_t i = 0; i < f->n; i++)
        acts = acts || f->options[i].kind->act != NULL;
    return acts ? 0 : add_option(f, "print", "path", err);
}

/* Orders texts by bytes, lists by elements, numbers by value: results of one search have one type. */
static int
find_compare(const json_t *a, const json_t *b)
{
    if (json_is_string(a) && json_is_string(b))
        return strcmp(json_string_value(a), json_string_value(b));
    if (json_is_array(a) && json_is_array(b)) {
        for (size_t i = 0; i < json_array_size(a) && i < json_array_size(b); i++) {
            int c = find_compare(json_array_get(a, i), json_array_get(b, i));
            if (c != 0)
                return c;
        }
        return 0;
    }
    double x = json_number_value(a), y = json_number_value(b);
    return x < y ? -1 : x > y;
}

static int
find_by_value(const void *a, const void *b)
{
    return find_compare(*(json_t *const *) a, *(json_t *const *) b);
}

/* Option errors are the function's return ("error: ..."), as in Salt, while errors of the walk are
 * exceptions. */
int
file_find(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *pattern = fop_path(args, "path");
    finder_auto_t f = { .maxdepth = -1, .found = json_array() };
    fail_auto_t why = FAIL_INIT;

    if (find_add_options(&f, value_get(args, "args"), value_get(args, "kwargs"), &why) != 0) {
        *ret_value = value_fmt("error: %s", fail_text(&why));
        return 0;
    }
    char **paths = NULL;
    int rc = fop_glob(pattern, &paths, err);
    for (size_t i = 0; rc == 0 && paths[i] != NULL; i++) {
        /* Held open for the time of the walk, so that deletions below it can't be redirected. With mindepth 0 the start
         * itself is looked at too. */
        AUTO_FD top = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        f.top = paths[i];
        f.top_fd = top;
        if (f.mindepth < 1)
            rc = find_visit(&f, paths[i], fop_basename(paths[i]), err);
        if (rc == 0 && top >= 0)
            rc = find_walk(&f, paths[i], 1, err);
    }
    strv_free(paths);
    if (rc == 0) {
        /* Sorts the found paths. */
        json_t *list = f.found;
        size_t n = json_array_size(list);
        json_t **items = xcalloc(n + 1, sizeof(*items)), *out = json_array();
        for (size_t i = 0; i < n; i++)
            items[i] = json_array_get(list, i);
        qsort(items, n, sizeof(*items), find_by_value);
        for (size_t i = 0; i < n; i++)
            json_array_append(out, items[i]);
        free(items);
        *ret_value = out;
    }
    return rc;
}
