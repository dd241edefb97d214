/* copy.c - see copy.h. Plain mode loads all files as text into one cp.recv job. --chunked mode surveys the
 * sources, then sends each file as a sequence of cp.recv_chunked jobs (base64, gzip unless --no-compression)
 * and empty folders as calls without data. A copy's pieces share a random name, by which the minions keep
 * them apart. */
#include "cli/copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/opts.h"
#include "cli/request.h"
#include "common/base/base64.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/gzip.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "salt/limits.h"
#include "salt/value.h"

enum { EXIT_USAGE = 64, EXIT_MISSING = 42, DEPTH_MAX = 100, COPY_HEX = 16 };

typedef struct copy {
    cmd_t cmd;
    json_t *target;  /* owned: {tgt, tgt_type, ...} */
    json_t *sources; /* owned: real paths as they were named */
    const char *dest;
    bool packed;
    json_t *files, *folders; /* owned: {path: mode}, {path: true} for empty ones */
    json_t *all;             /* owned: {id: {path: what came of it}} */
} copy_t;

/* ---- one job --------------------------------------------------------------------------------- */

typedef struct gathered {
    json_t *returns; /* {id: return} */
} gathered_t;

/* Collects a return of the current job. */
static void
copy_take_return(cmd_t *self, const char *id, json_t *push, void *state)
{
    json_t *value = value_get(push, "return");

    json_object_set(((gathered_t *) state)->returns, id, value);
    self->failed = self->failed || cmd_retcode(push) != 0;
}

static void
take_silence(cmd_t *self, const char *id, outcome_t outcome, const char *text, void *state)
{
    json_object_set_new(((gathered_t *) state)->returns, id, json_string(text));
    self->failed = true;
}

/* Publish fun(arg) to the target and wait: 0 with *ret NEW, or the exit code. `arg` is consumed. */
static int
run_job(copy_t *self, const char *fun, json_t *arg, json_t **ret)
{
    static const cmd_sink_t sink = { copy_take_return, take_silence, false };
    json_t *request = json_copy(self->target);
    json_auto_t *returns = json_object();
    gathered_t g = { returns };

    json_object_set_new(request, "fun", json_string(fun));
    json_object_set_new(request, "arg", arg);
    int rc = cmd_follow(&self->cmd, &request, &sink, &g);
    if (rc == 0)
        *ret = json_incref(returns);
    return rc;
}

/* ---- all in one job -------------------------------------------------------------------------- */

/* Reads a file that must be UTF-8 text and fit into one message; the error names --chunked otherwise. */
static int
copy_load_file(copy_t *self, const char *path, json_t *files)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    if (fs_is_dir(path)) {
        show_print(&self->cmd.show,
                   "%s is a directory, only files are supported in non-chunked mode. Use \"--chunked\" "
                   "command line argument.\n",
                   path);
        return EXIT_FAILURE;
    }
    if (fs_read(path, LIMIT_LOCAL_USER_MSG, &text, &err) < 0) {
        if (err.code == -ENOENT)
            show_error(&self->cmd.show, "The referenced file, %s is not available.\n", path);
        else
            show_error(&self->cmd.show, "%s%s\n", fail_text(&err),
                       err.code == -EFBIG ? ": use --chunked" : "");
        return EXIT_MISSING;
    }
    json_t *value = json_stringn(buf_str(&text), text.len);
    if (value == NULL) {
        show_error(&self->cmd.show, "%s is not text in UTF-8: use --chunked\n", path);
        return EXIT_MISSING;
    }
    json_object_set_new(files, path, value);
    return 0;
}

/* Sends all files in one job, whose returns are the result. */
static int
run_whole(copy_t *self)
{
    json_auto_t *files = json_object();
    json_t *path;
    size_t i;

    json_array_foreach (self->sources, i, path) {
        int rc = copy_load_file(self, json_string_value(path), files);
        if (rc != 0)
            return rc;
    }
    json_decref(self->all);
    self->all = NULL;
    return run_job(self, "cp.recv", json_pack("[O, s]", files, self->dest), &self->all);
}

/* ---- in pieces ------------------------------------------------------------------------------- */

/* NULL, or why what was found in a folder can't be sent. A pipe that was named itself may have an end. */
static const char *
unsendable(const struct stat *st, const char *path, int depth)
{
    if (depth > DEPTH_MAX)
        return "is too deep";
    if (depth > 0 && !S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode))
        return "is neither a file nor a folder";
    return utf8_valid(path, strlen(path)) ? NULL : "has a name that is not UTF-8";
}

static int survey(copy_t *self, const char *path, int depth);

/* Everything at `path`: files with their permissions, empty folders. 0 or the exit code. */
static int
survey(copy_t *self, const char *path, int depth)
{
    struct stat st;
    bool seen = stat(path, &st) == 0;
    if (!seen && !fs_is_absence(-errno)) {
        show_error(&self->cmd.show, "%s: %s\n", path, strerror(errno));
        return EXIT_MISSING;
    }
    const char *why = !seen ? "does not exist" : unsendable(&st, path, depth);
    if (why != NULL) {
        show_error(&self->cmd.show, "%s %s\n", path, why);
        return EXIT_MISSING;
    }
    if (!S_ISDIR(st.st_mode)) {
        json_object_set_new(self->files, path, json_integer(st.st_mode & 07777));
        return 0;
    }

    /* Lists a folder; an empty one is remembered, as no file would create it. */
    fail_auto_t err = FAIL_INIT;
    char **names = NULL;
    int rc = 0;

    if (fs_names(path, &names, &err) < 0) {
        show_error(&self->cmd.show, "%s\n", fail_text(&err));
        return EXIT_MISSING;
    }
    if (names[0] == NULL)
        json_object_set_new(self->folders, path, json_true());
    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *below = fs_join(path, names[i]);
        rc = survey(self, below, depth + 1);
    }
    strv_free(names);
    return rc;
}

static const char *
copy_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Maps a local path to its path in the minions' destination folder. NEW. */
static char *
remote_path(const copy_t *self, const char *path)
{
    bool into = json_object_size(self->folders) > 0 || json_object_size(self->files) > 1 ||
                str_ends(self->dest, "/");
    json_t *source;
    size_t i;

    json_array_foreach (self->sources, i, source) {
        const char *top = json_string_value(source);
        size_t n = strlen(top);
        if (str_eq(path, top))
            return into ? fs_join(self->dest, copy_name_of(path)) : xstrdup(self->dest);
        if (!str_starts(path, top) || path[n] != '/')
            continue;
        AUTO_FREE char *folder = fs_join(self->dest, copy_name_of(top));
        return fs_join(folder, path + n);
    }
    return fs_join(self->dest, copy_name_of(path));
}

/* Keeps the first error of a file as its result; later pieces can't overwrite it. */
static void
copy_merge(copy_t *self, json_t *returns, const char *path)
{
    const char *id;
    json_t *value;

    json_object_foreach (returns, id, value) {
        json_t *own = value_get(self->all, id), *was = value_get(own, path);
        if (own == NULL) {
            own = json_object();
            json_object_set_new(self->all, id, own);
        }
        if (was == NULL || json_is_true(was))
            json_object_set(own, path, value);
        self->cmd.failed = self->cmd.failed || !json_is_true(value);
    }
}

/* State of one file that is sent in pieces. */
typedef struct sending {
    char *place; /* owned: on the minions */
    json_t *mode;
    char copy[COPY_HEX + 1]; /* the name that its pieces have in common */
    json_int_t at;
    char *piece, *next; /* owned */
    size_t n, n_next;
} sending_t;

static void
sending_free(sending_t *s)
{
    free(s->place);
    free(s->piece);
    free(s->next);
}
#define sending_auto_t __attribute__((cleanup(sending_free))) sending_t

/* Reads at most `size` bytes with one read(); *ret_n is 0 at the end of the file. 0 or a negative errno. */
static int
read_piece(int fd, char *piece, size_t size, size_t *ret_n)
{
    ssize_t n;

    while ((n = read(fd, piece, size)) < 0 && errno == EINTR)
        continue;
    *ret_n = n > 0 ? (size_t) n : 0;
    return n < 0 ? -errno : 0;
}

/* Sends one file piece by piece; an empty file is one empty piece. */
static int
send_file(copy_t *self, const char *path, json_t *mode)
{
    size_t size = (size_t) value_int(self->cmd.start.opts, "salt_cp_chunk_size", 98304);
    sending_auto_t s = {
        .place = remote_path(self, path), .mode = mode, .piece = xcalloc(size, 1), .next = xcalloc(size, 1)
    };
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int rc = fd < 0 ? -errno : read_piece(fd, s.piece, size, &s.n), sent = 0;

    /* Writes a random hexadecimal name that no concurrent copy uses. */
    uint64_t r = 0;
    if (getrandom(&r, sizeof(r), 0) != (ssize_t) sizeof(r))
        r = (uint64_t) clock_wall_us();
    (void) snprintf(s.copy, COPY_HEX + 1, "%016llx", (unsigned long long) r);

    while (rc == 0) {
        rc = s.n > 0 ? read_piece(fd, s.next, size, &s.n_next) : 0;
        if (rc != 0)
            break;

        /* Sends one piece and merges the minions' answers. */
        buf_auto_t packed = BUF_INIT;
        json_auto_t *returns = NULL;

        if (self->packed)
            gzip_pack(s.piece, s.n, &packed);
        /* As a keyword: base64 may look like one ("AP8="). */
        AUTO_FREE char *text = base64_encode(self->packed ? packed.data : s.piece,
                                             self->packed ? packed.len : s.n, 0);
        json_t *arg = json_pack("[{s:b, s:s, s:s, s:s, s:I, s:b, s:b, s:O}]", "__kwarg__", 1, "dest", s.place,
                                "chunk", text, "copy", s.copy, "at", s.at, "last", s.n_next == 0,
                                "compressed", self->packed, "mode", s.mode);
        sent = run_job(self, "cp.recv_chunked", arg, &returns);
        if (sent == 0)
            copy_merge(self, returns, s.place);

        if (sent != 0 || s.n_next == 0)
            return sent;
        char *swap = s.piece;
        s.at += (json_int_t) s.n;
        s.piece = s.next;
        s.next = swap;
        s.n = s.n_next;
    }
    show_error(&self->cmd.show, "%s: %s\n", path, strerror(-rc));

    /* Discards the pieces that the minions have received of a file whose sending failed. Best effort: the
     * failure that led here is the one that is reported. */
    json_auto_t *returns = NULL;
    if (s.at > 0)
        (void) run_job(self, "cp.recv_forget", json_pack("[s]", s.copy), &returns);

    return EXIT_MISSING;
}

static int
run_pieces(copy_t *self)
{
    const char *path;
    json_t *v;
    size_t i;
    int rc = 0;

    json_array_foreach (self->sources, i, v)
        rc = rc == 0 ? survey(self, json_string_value(v), 0) : rc;
    json_object_foreach (self->files, path, v)
        rc = rc == 0 ? send_file(self, path, v) : rc;
    json_object_foreach (self->folders, path, v) {
        json_auto_t *returns = NULL;
        AUTO_FREE char *place = remote_path(self, path);
        if (rc == 0)
            rc = run_job(self, "cp.recv_chunked", json_pack("[s, n]", place), &returns);
        if (rc == 0)
            copy_merge(self, returns, place);
    }
    return rc;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* A source that lies in another one, which brings it along: it can't have two places. 0 or the exit code. */
static int
check_nested(const copy_t *self)
{
    json_auto_t *paths = json_object();
    json_t *source;
    size_t i;

    json_array_foreach (self->sources, i, source)
        json_object_set(paths, json_string_value(source), source);
    json_array_foreach (self->sources, i, source) {
        AUTO_FREE char *above = xstrdup(json_string_value(source));
        for (char *slash; (slash = strrchr(above, '/')) != NULL && slash > above;) {
            *slash = '\0';
            if (value_get(paths, above) != NULL)
                return optparse_error(&opts_cp, "%s is in %s, which brings it along: copy them one by one",
                                      json_string_value(source), above);
        }
    }
    return 0;
}

/* The words: target, sources, destination. */
static int
take_words(copy_t *self)
{
    const opt_result_t *res = &self->cmd.start.res;

    if (res->n_args < 3)
        return optparse_error(&opts_cp,
                              "a target, at least one source and a destination are needed; for example: "
                              "salt-cp '*' /etc/hosts /etc/hosts");
    self->target = request_target(res->values, res->args[0]);
    self->dest = res->args[res->n_args - 1];
    if (!utf8_valid(self->dest, strlen(self->dest)))
        return optparse_error(&opts_cp, "the destination has a name that is not UTF-8");
    for (size_t i = 1; i + 1 < res->n_args; i++) {
        AUTO_FREE char *real = realpath(res->args[i], NULL);
        json_t *path = json_string(real != NULL ? real : res->args[i]);
        if (path == NULL)
            return optparse_error(&opts_cp, "the source %zu has a name that is not UTF-8", i);
        json_array_append_new(self->sources, path);
    }

    /* Beside each other in the destination each source has the last part of its path: two of one name
     * would be one file. */
    int rc = 0;
    json_auto_t *by_name = json_object();
    json_t *source;
    size_t i;

    json_array_foreach (self->sources, i, source) {
        const char *path = json_string_value(source), *name = copy_name_of(path);
        const char *other = value_str(by_name, name, NULL);
        if (*name != '\0' && other != NULL && !str_eq(other, path)) {
            rc = optparse_error(&opts_cp, "%s and %s would both be '%s' on the minions: copy them one by one",
                                other, path, name);
            break;
        }
        json_object_set(by_name, name, source);
    }

    return rc != 0 ? rc : check_nested(self);
}

static int
copy_run_configured(copy_t *self)
{
    fail_auto_t err = FAIL_INIT;
    startup_t *start = &self->cmd.start;
    int rc = startup_configure(start);

    if (rc >= 0)
        return rc;
    if (show_init(&self->cmd.show, start->values, start->opts, &err) < 0)
        return optparse_error(&opts_cp, "%s", fail_text(&err));
    if ((rc = take_words(self)) != 0 || (rc = cmd_nodegroup(&self->cmd, self->target)) != 0)
        return rc;
    self->cmd.show_silent = true;
    self->cmd.fun = xstrdup("cp.recv");
    self->packed = !value_bool(start->values, "no_compression", false);
    self->cmd.line = jobline_new(value_str(start->opts, "sock_dir", ""), startup_timeout_ms(start), &err);
    if (self->cmd.line == NULL)
        return cmd_refused(&self->cmd, &err);
    rc = value_bool(start->values, "chunked", false) ? run_pieces(self) : run_whole(self);
    if (rc != 0)
        return rc;
    show_data(&self->cmd.show, self->all, NULL, 0);
    return cmd_finish(&self->cmd);
}

int
copy_main(int argc, char **argv)
{
    copy_t self = {
        .sources = json_array(), .files = json_object(), .folders = json_object(), .all = json_object()
    };
    int rc = startup_options(&self.cmd.start, &opts_cp, argc, argv);

    interrupt_arm();
    if (rc < 0)
        rc = copy_run_configured(&self);
    if (rc == 0 && self.cmd.show.failed)
        rc = EXIT_FAILURE;
    jobline_destroy(&self.cmd.line);
    json_t *owned[] = { self.target, self.sources, self.files, self.folders, self.all };
    for (size_t i = 0; i < NELEMS(owned); i++)
        json_decref(owned[i]);
    free(self.cmd.fun);
    startup_free(&self.cmd.start);
    return rc;
}
