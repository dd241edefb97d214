/* archive_zip.c - more of execution module `archive`: zip and unzip, without the user's command line options.
 * Members are unpacked here, each beside its place and renamed, so that no half of one is ever found there;
 * links come last, so that no member is written through one that the archive brings. */
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/host/prog.h"
#include "plugins/lib/archive/archives.h"
#include "plugins/lib/archive/sources.h"
#include "plugins/lib/archive/zipfile.h"
#include "plugins/lib/file/fileops.h"

enum { LINK_MAX_LEN = 4096, PERMISSIONS = 07777 };

/* ---- another user ----------------------------------------------------------------------------- */

typedef struct acting {
    bool changed;
} acting_t;

/* A process that cannot give a user's rights back must not go on. */
static void
acting_end(acting_t *a)
{
    if (a->changed) {
        salt_assert(seteuid(getuid()) == 0 && setegid(getgid()) == 0);
        salt_assert(initgroups("root", getgid()) == 0);
    }
}

#define acting_auto_t __attribute__((cleanup(acting_end))) acting_t

/* Files are made as args["runas"] until the end of the scope, its groups included. Only the effective ids
 * change, for the whole process: a job runs in a process of its own. Groups before the user, whose rights
 * would not do to change them. */
static int
acting_begin(acting_t *a, const json_t *args, fail_t *err)
{
    const char *name = value_str(args, "runas", "");
    passwd_space_auto_t space = { 0 };
    const struct passwd *user = *name != '\0' ? passwd_user(&space, name) : NULL;

    if (*name == '\0')
        return 0;
    if (user == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "User '%s' does not exist", name);
    if (user->pw_uid == geteuid() && user->pw_gid == getegid())
        return 0;
    if (getuid() != 0)
        return fail_kind(err, FAIL_COMMAND, -EPERM, "runas: only root may act as '%s'; leave it out", name);
    a->changed = true;
    if (initgroups(user->pw_name, user->pw_gid) < 0 || setegid(user->pw_gid) < 0 || seteuid(user->pw_uid) < 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "runas '%s': %s", name, strerror(errno));
    return 0;
}

/* ---- unzip ------------------------------------------------------------------------------------ */

/* A call in work: all BORROWED but `zip`. */
typedef struct unzip {
    zipfile_t zip;
    const char *dest, *password;
    bool perms;
    map_t *links; /* paths of the links that were made */
} unzip_t;

/* The member's place below dest: no "..", no leading "/". NEW. Python's zipfile drops these parts in the same
 * way, so that a hostile name lands inside, not outside. */
static char *
place_of(const unzip_t *u, const char *name)
{
    char **parts = str_split(name, "/", true);
    char *path = xstrdup(u->dest);

    for (size_t i = 0; parts[i] != NULL; i++) {
        if (strcmp(parts[i], ".") == 0 || strcmp(parts[i], "..") == 0)
            continue;
        char *longer = fs_join(path, parts[i]);
        free(path);
        path = longer;
    }
    strv_free(parts);
    return path;
}

static int
unzip_failed(fail_t *err, const char *path)
{
    return fail_set(err, -errno, "[Errno %d] %s: '%s'", errno, strerror(errno), path);
}

/* Beside its place and renamed: a broken member leaves nothing, and a link that is there is replaced rather
 * than written through. */
static int
unzip_file(const unzip_t *u, const zip_entry_t *e, const char *path, fail_t *err)
{
    AUTO_FREE char *temp = xasprintf("%s.XXXXXX", path);
    AUTO_FD fd = mkostemp(temp, O_CLOEXEC);

    if (fd < 0)
        return unzip_failed(err, path);
    int rc = zip_read(&u->zip, e, u->password, fd, err);
    /* Archives of other systems have no mode; 0 is none. */
    mode_t own = e->mode & PERMISSIONS, mode = u->perms && own != 0 ? own : fop_usual_mode();
    if (rc == 0 && (fchmod(fd, mode) < 0 || rename(temp, path) < 0))
        rc = unzip_failed(err, path);
    if (rc < 0)
        (void) unlink(temp);
    return rc;
}

/* A link that is there gives way to the archive's. */
static int
unzip_link(const unzip_t *u, const zip_entry_t *e, const char *path, fail_t *err)
{
    buf_auto_t target = BUF_INIT;
    struct stat st;
    int rc = zip_read_text(&u->zip, e, u->password, LINK_MAX_LEN, &target, err);

    if (rc < 0)
        return rc;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        (void) unlink(path);
    return symlink(buf_str(&target), path) < 0 ? unzip_failed(err, path) : 0;
}

/* Folders that the archive does not list are made as well. */
static int
unzip_member(const unzip_t *u, const zip_entry_t *e, fail_t *err)
{
    AUTO_FREE char *path = place_of(u, e->name), *above = fop_dirname(path);
    bool dir = str_ends(e->name, "/");

    /* A link behind a link of the archive's would lie where that one leads, and so would the folders above
     * it. */
    for (size_t n = strlen(u->dest) + 1; S_ISLNK(e->mode) && n < strlen(path); n++) {
        AUTO_FREE char *part = path[n] == '/' ? xstrndup(path, n) : NULL;
        if (part != NULL && map_get(u->links, part) != NULL)
            return fail_set(err, -ELOOP, "'%s' would be made behind the archive's own link '%s'", path, part);
    }
    int rc = fs_mkdirs(dir ? path : above, 0777, err);
    if (rc < 0)
        return rc;
    if (S_ISLNK(e->mode)) {
        map_set(u->links, path, u->links);
        return unzip_link(u, e, path, err);
    }
    if (!dir)
        return unzip_file(u, e, path, err);
    return u->perms && (e->mode & PERMISSIONS) != 0 && chmod(path, e->mode & PERMISSIONS) < 0
               ? unzip_failed(err, path)
               : 0;
}

/* Files, then folders' modes, then links. The list that is returned has the archive's order. */
static int
unzip_members(const unzip_t *u, const json_t *excludes, json_t *into, fail_t *err)
{
    int rc = 0;

    for (size_t i = 0; i < u->zip.n; i++) {
        if (!value_lists(excludes, u->zip.v[i].name))
            json_array_append_new(into, value_utf8(u->zip.v[i].name, strlen(u->zip.v[i].name)));
    }
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; rc == 0 && i < u->zip.n; i++) {
            const zip_entry_t *e = &u->zip.v[i];
            int own = S_ISLNK(e->mode) ? 2 : str_ends(e->name, "/") ? 1 : 0;
            if (own == pass && !value_lists(excludes, e->name))
                rc = unzip_member(u, e, err);
        }
    }
    return rc;
}

static int
archive_unzip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    acting_auto_t acting = { 0 };
    json_auto_t *excludes = sources_listed(value_get(args, "excludes")), *files = json_array(), *paths = NULL;
    json_t *given = value_get(args, "password");
    AUTO_FREE char *password = value_truthy(given) ? value_pystr(given) : NULL;
    fail_auto_t why = FAIL_INIT;
    AUTO(map) links = map_new(NULL);
    unzip_t u = { .zip = ZIPFILE_INIT,
                  .password = password,
                  .links = links,
                  .perms = value_bool(args, "extract_perms", true) };

    /* Rendered before the user changes: templates read the minion's own files. */
    paths = sources_rendered(ctx, args, "zip_file", "dest", err);
    if (paths == NULL || acting_begin(&acting, args, err) < 0)
        return err->code;
    u.dest = value_str(paths, "dest", "");
    int rc = zipfile_open(&u.zip, value_str(paths, "zip_file", ""), &why);
    if (rc == 0)
        rc = unzip_members(&u, excludes, files, &why);
    zipfile_free(&u.zip);
    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc, "Exception encountered unpacking zipfile: %s",
                         fail_text(&why));
    *ret_value = archive_trimmed(files, value_get(args, "trim_output"));
    return 0;
}

/* ---- zip -------------------------------------------------------------------------------------- */

typedef struct zipping {
    const char *base; /* the folder that names are below: cwd, or "/" */
    json_t *names;    /* what goes in */
} zipping_t;

/* The member's name: "." for the base itself. BORROWED. Names are relative to the base; a path elsewhere
 * keeps its whole self without the leading slash, as Salt does with arcname. */
static const char *
member_name(const zipping_t *z, const char *path)
{
    size_t n = strlen(z->base);

    while (n > 0 && z->base[n - 1] == '/')
        n--;
    if (strncmp(path, z->base, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return path + strspn(path, "/");
    path += n + strspn(path + n, "/");
    return *path != '\0' ? path : ".";
}

/* A path that vanished meanwhile is left out. Folders get entries of their own, which end with "/". */
static int
zip_add(zipping_t *z, const char *path, fail_t *err)
{
    struct stat st;
    char **names = NULL;
    const char *name = member_name(z, path);

    if (stat(path, &st) < 0)
        return 0;
    if (!S_ISDIR(st.st_mode)) {
        json_array_append_new(z->names, json_string(name));
        return 0;
    }
    json_array_append_new(z->names, value_fmt("%s/", name));
    int rc = fop_names(path, &names, err);
    if (names != NULL)
        qsort(names, strv_len(names), sizeof(*names), str_by_text);
    /* Files first, then what is in the folders; a link to a folder is not followed. */
    for (int dirs = 0; dirs <= 1; dirs++) {
        for (size_t i = 0; rc == 0 && names != NULL && names[i] != NULL; i++) {
            AUTO_FREE char *below = fs_join(path, names[i]);
            bool is_dir = stat(below, &st) == 0 && S_ISDIR(st.st_mode);
            bool link = lstat(below, &st) == 0 && S_ISLNK(st.st_mode);
            if (is_dir == (dirs == 1) && !(is_dir && link))
                rc = zip_add(z, below, err);
        }
    }
    strv_free(names);
    return rc;
}

/* The archive is made beside its place and renamed. Names go by stdin, so that neither their number nor a
 * leading "-" matters; hence no line breaks in them. */
static int
zip_write(const zipping_t *z, const char *path, fail_t *err)
{
    AUTO_FREE char *temp = xasprintf("%s.%ld.new.zip", path, (long) getpid());
    AUTO_FREE char *names = value_joined(z->names, "\n");
    prog_auto_t prog = PROG_INIT;

    prog_adds(&prog, "zip", "-q", "-X", temp, "-@", NULL);
    prog.cwd = z->base;
    prog.in = names;
    prog.timeout_ms = ARCHIVE_TIMEOUT_S * 1000;
    json_auto_t *ran = prog_run_all(&prog, err);
    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) == 0)
        return fs_settle(temp, path, err);
    (void) unlink(temp);
    const char *said = value_str(ran, "stderr", "");
    return fail_set(err, -EIO, "%s", *said != '\0' ? said : value_str(ran, "stdout", ""));
}

/* Names are the lines of zip's stdin. */
static int
check_zip_paths(const json_t *sources, const char *cwd, fail_t *err)
{
    json_t *source;
    size_t i;

    if (cwd != NULL && *cwd != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "cwd must be absolute");
    json_array_foreach (sources, i, source) {
        const char *path = json_string_value(source);
        if (cwd == NULL && *path != '/')
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Relative paths require the 'cwd' parameter");
        if (strchr(path, '\n') != NULL)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' has a line break, which zip can't take",
                             path);
    }
    return 0;
}

static int
archive_zip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    acting_auto_t acting = { 0 };
    const char *cwd = value_str(args, "cwd", NULL);
    json_auto_t *paths = sources_rendered(ctx, args, "zip_file", "sources", err);
    json_auto_t *sources = paths != NULL ? sources_expanded(value_get(paths, "sources"), err) : NULL;
    json_auto_t *names = json_array();
    zipping_t z = { .base = cwd != NULL ? cwd : "/", .names = names };
    fail_auto_t why = FAIL_INIT;
    json_t *source;
    size_t i;
    int rc = 0;

    if (sources == NULL || check_zip_paths(sources, cwd, err) < 0 || acting_begin(&acting, args, err) < 0)
        return err->code;
    AUTO_FREE char *tool = fs_which("zip");
    if (tool == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "'zip' command not available");
    json_array_foreach (sources, i, source) {
        AUTO_FREE char *path = fop_join2(z.base, json_string_value(source));
        rc = rc == 0 ? zip_add(&z, path, &why) : rc;
    }
    /* zip runs in the folder of the names, and a relative archive's path is meant there too, as Salt changes
     * into it. */
    AUTO_FREE char *here = cwd == NULL ? getcwd(NULL, 0) : NULL;
    AUTO_FREE char *archive = fop_join2(cwd != NULL    ? cwd
                                        : here != NULL ? here
                                                       : "/",
                                        value_str(paths, "zip_file", ""));
    if (rc == 0)
        rc = zip_write(&z, archive, &why);
    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc, "Exception encountered creating zipfile: %s",
                         fail_text(&why));
    *ret_value = json_incref(names);
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define FILE_ROW     ARG("zip_file", ARG_STR, ARG_REQUIRED, "Path of the archive")
#define TEMPLATE_ROW ARG("template", ARG_STR, "null", "Render the paths with this engine first: jinja")
#define RUNAS_ROW    ARG("runas", ARG_STR, "null", "User whose files are read and made")

static const arg_t unzip_args[] = {
    FILE_ROW,
    ARG("dest", ARG_STR, ARG_REQUIRED, "Folder to unpack to"),
    ARG("excludes", ARG_ANY, "null", "Members to leave out: a list, or a text with commas"),
    ARG("options", ARG_STR, "null", "Only for cmd_unzip: accepted and not used"),
    TEMPLATE_ROW,
    RUNAS_ROW,
    ARG("trim_output", ARG_ANY, "false", "Return the first names only: True for 100, or a number"),
    ARG("password", ARG_ANY, "null", "Of an encrypted archive"),
    ARG("extract_perms", ARG_BOOL, "true", "Give files the modes that the archive has"),
    ARGS_END,
};
static const arg_t zip_args[] = {
    FILE_ROW,
    ARG("sources", ARG_ANY, ARG_REQUIRED,
        "Files and folders: a list, or a text with commas; globs are expanded"),
    TEMPLATE_ROW,
    ARG("cwd", ARG_STR, "null", "Folder that relative paths are below"),
    RUNAS_ROW,
    ARG("zip64", ARG_BOOL, "false", "Accepted: large archives always may be zip64"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "unzip", archive_unzip, unzip_args, 0,
      "Unpack a zip archive; return the names." CLI_EXAMPLE(
          "salt '*' archive.unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2") },
    { "zip", archive_zip, zip_args, 0,
      "Make a zip archive; return the names that it holds." CLI_EXAMPLE(
          "salt '*' archive.zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2") },
};

PLUGIN(exec, archive_zip, .provides = "archive", .doc = "Zip archives", FUNCS(funcs));
