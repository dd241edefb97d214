/* journal.c - see journal.h. */
#include "plugins/lib/beacon/journal.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/host/library.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

/* ---- the library ------------------------------------------------------------------------------ */

typedef struct sd_journal sd_journal_t;
typedef struct sd_id {
    uint8_t bytes[16];
} sd_id_t; /* sd_id128_t */

enum { SD_LOCAL_ONLY = 1, SD_OS_ROOT = 16 };
/* Bounds of when the library wants to look by itself: a time that has passed would keep the minion busy, and a
 * clock that was set may put it far away. */
enum { LOOK_MIN_MS = 100, LOOK_MAX_MS = 60000 };

static struct sd_lib {
    int (*open)(sd_journal_t **, int flags);
    int (*open_directory)(sd_journal_t **, const char *path, int flags);
    void (*close)(sd_journal_t *);
    int (*get_fd)(sd_journal_t *);
    int (*process)(sd_journal_t *);
    int (*get_timeout)(sd_journal_t *, uint64_t *until_us);
    int (*get_usage)(sd_journal_t *, uint64_t *bytes);
    int (*set_data_threshold)(sd_journal_t *, size_t bytes);
    int (*add_match)(sd_journal_t *, const void *field, size_t len);
    int (*add_disjunction)(sd_journal_t *);
    void (*flush_matches)(sd_journal_t *);
    int (*seek_head)(sd_journal_t *);
    int (*seek_tail)(sd_journal_t *);
    int (*seek_cursor)(sd_journal_t *, const char *cursor);
    int (*test_cursor)(sd_journal_t *, const char *cursor);
    int (*get_cursor)(sd_journal_t *, char **ret_cursor);
    int (*next)(sd_journal_t *);
    int (*previous)(sd_journal_t *);
    int (*get_realtime_usec)(sd_journal_t *, uint64_t *);
    int (*get_monotonic_usec)(sd_journal_t *, uint64_t *, sd_id_t *boot);
    void (*restart_data)(sd_journal_t *);
    int (*enumerate_data)(sd_journal_t *, const void **, size_t *);
} sd_lib;

#define SD_SYMBOL(name) ROW("sd_journal_" #name, offsetof(struct sd_lib, name))
static const library_symbol_t sd_symbols[] = {
    SD_SYMBOL(open),
    SD_SYMBOL(open_directory),
    SD_SYMBOL(close),
    SD_SYMBOL(get_fd),
    SD_SYMBOL(process),
    SD_SYMBOL(get_timeout),
    SD_SYMBOL(get_usage),
    SD_SYMBOL(set_data_threshold),
    SD_SYMBOL(add_match),
    SD_SYMBOL(add_disjunction),
    SD_SYMBOL(flush_matches),
    SD_SYMBOL(seek_head),
    SD_SYMBOL(seek_tail),
    SD_SYMBOL(seek_cursor),
    SD_SYMBOL(test_cursor),
    SD_SYMBOL(get_cursor),
    SD_SYMBOL(next),
    SD_SYMBOL(previous),
    SD_SYMBOL(get_realtime_usec),
    SD_SYMBOL(get_monotonic_usec),
    SD_SYMBOL(restart_data),
    SD_SYMBOL(enumerate_data),
};

static int
sd_load(fail_t *err)
{
    static const char *const names[] = { "libsystemd.so.0", NULL };
    static void *library; /* stays loaded */
    fail_auto_t why = FAIL_INIT;
    if (library == NULL)
        library = library_open(names, sd_symbols, NELEMS(sd_symbols), &sd_lib, &why);
    return library != NULL ? 0
                           : fail_set(err, -ENOENT,
                                      "The library libsystemd can't be loaded (%s): install the package "
                                      "libsystemd0 (Debian, Ubuntu, SUSE) or systemd-libs (Fedora, RHEL)",
                                      fail_text(&why));
}

/* ---- files that are cut ----------------------------------------------------------------------- */

/* The library reads files through mappings. Of one that is cut then, or that its disk does not give, a page is
 * missing, and the kernel sends SIGBUS; the library's users are to cope. A page of zeros takes the place, which
 * the library finds to be no entry, and the look fails. */
static volatile sig_atomic_t journal_cut;

static void
journal_on_bus(int sig, siginfo_t *info, void *context)
{
    static long page;
    page = page != 0 ? page : sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t) info->si_addr & ~((uintptr_t) page - 1);
    journal_cut = 1;
    if (info->si_code != BUS_ADRERR || mmap((void *) at, (size_t) page, PROT_READ,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        (void) signal(sig, SIG_DFL);
}

static void
journal_guard(struct sigaction *before)
{
    struct sigaction action = { .sa_sigaction = journal_on_bus, .sa_flags = SA_SIGINFO };
    journal_cut = 0;
    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(SIGBUS, &action, before);
}

/* Returns `rc`, or the failure that a file was cut meanwhile. */
static int
journal_unguard(const struct sigaction *before, int rc, fail_t *err)
{
    (void) sigaction(SIGBUS, before, NULL);
    if (!journal_cut)
        return rc;
    fail_clear(err);
    return fail_set(err, -EIO, "a file of the journal was cut, or its disk failed, while it was read");
}

/* ---- entries ---------------------------------------------------------------------------------- */

enum { FIELDS_MAX = 1024 }; /* of one entry, as journald has it */

/* Fields that are numbers, as python-systemd reads them. */
static const char *const numbers[] = { "PRIORITY",
                                       "_UID",
                                       "_GID",
                                       "_PID",
                                       "SYSLOG_FACILITY",
                                       "SYSLOG_PID",
                                       "LEADER",
                                       "ERRNO",
                                       "CODE_LINE",
                                       "EXIT_STATUS",
                                       "_AUDIT_SESSION",
                                       "_AUDIT_LOGINUID",
                                       "_SYSTEMD_OWNER_UID",
                                       "USERSPACE_USEC",
                                       "INITRD_USEC",
                                       "KERNEL_USEC",
                                       "_SOURCE_REALTIME_TIMESTAMP",
                                       "_SOURCE_MONOTONIC_TIMESTAMP" };

/* NEW value of a field. */
static json_t *
journal_value(const char *name, const char *bytes, size_t len)
{
    bool is = false;
    for (size_t i = 0; !is && i < NELEMS(numbers); i++)
        is = str_eq(numbers[i], name);
    AUTO_FREE char *text = is ? xstrndup(bytes, len) : NULL;
    long long n;
    if (is && str_to_int(text, INT64_MIN, INT64_MAX, &n))
        return json_integer(n);
    if (utf8_valid(bytes, len) && memchr(bytes, '\0', len) == NULL)
        return value_utf8(bytes, len);
    json_t *list = json_array();
    for (size_t i = 0; i < len; i++)
        json_array_append_new(list, json_integer((unsigned char) bytes[i]));
    return list;
}

void
journal_field(json_t *entry, const void *field, size_t len, size_t *budget)
{
    const char *text = field, *equals = memchr(text, '=', len);
    if (equals == NULL || equals == text || !utf8_valid(text, (size_t) (equals - text)) ||
        memchr(text, '\0', (size_t) (equals - text)) != NULL)
        return;
    bool fits = len <= *budget;
    *budget -= fits ? len : 0;
    AUTO_FREE char *name = xstrndup(text, (size_t) (equals - text));
    json_t *v = fits ? journal_value(name, equals + 1, len - (size_t) (equals + 1 - text)) : json_null();
    json_t *have = json_object_get(entry, name);
    if (have == NULL)
        json_object_set_new(entry, name, v);
    else if (json_is_array(have) && !json_is_integer(json_array_get(have, 0)))
        json_array_append_new(have, v);
    else
        json_object_set_new(entry, name, json_pack("[O, o]", have, v));
}

/* ---- reading ---------------------------------------------------------------------------------- */

enum { BUDGET_US = 5000 }; /* of one look; the rest waits for the next one */

struct journal {
    sd_journal_t *handle;
    int fd;
    bool more;
};

/* NEW text NAME=VALUE of a wanted field that the library can look for; NULL: it can't, as the value is a list or
 * the like. */
static char *
journal_match(const char *name, const json_t *wanted)
{
    if (json_is_object(wanted) || json_is_array(wanted) || json_is_null(wanted))
        return NULL;
    AUTO_FREE char *text = value_pystr(wanted);
    return xasprintf("%s=%s", name, text);
}

/* Has the library leave out what no service wants; it has an index of the fields. */
static void
journal_filter(journal_t *self, json_t *services)
{
    const char *service, *name;
    json_t *fields, *wanted;
    json_object_foreach (services, service, fields) {
        size_t n = 0;
        json_object_foreach (fields, name, wanted) {
            AUTO_FREE char *match = journal_match(name, wanted);
            n += match != NULL && sd_lib.add_match(self->handle, match, strlen(match)) >= 0;
        }
        if (n == 0) { /* this one may want any entry */
            sd_lib.flush_matches(self->handle);
            return;
        }
        (void) sd_lib.add_disjunction(self->handle);
    }
}

/* Goes to the last entry. 0: there is none. */
static int
journal_last(journal_t *self)
{
    int rc = sd_lib.seek_tail(self->handle);
    return rc >= 0 ? sd_lib.previous(self->handle) : rc;
}

/* Goes to the entry of a cursor, or where it is gone to the one before: what follows was not read yet. 0: nothing
 * is before. */
static int
journal_find(journal_t *self, const char *cursor)
{
    int rc = *cursor != '\0' ? sd_lib.seek_cursor(self->handle, cursor) : 0;
    if (rc < 0 || *cursor == '\0')
        return rc;
    rc = sd_lib.next(self->handle);
    if (rc == 0)
        return journal_last(self);
    return rc > 0 && sd_lib.test_cursor(self->handle, cursor) <= 0 ? sd_lib.previous(self->handle) : rc;
}

/* Begins after the entry that was read last, and the first time after the last one there is; context has "" while
 * there is none. */
static int
journal_begin(journal_t *self, json_t *context)
{
    const char *cursor = value_str(context, "journal", NULL);
    int found = cursor != NULL ? journal_find(self, cursor) : journal_last(self);
    if (found >= 0 && cursor == NULL) {
        AUTO_FREE char *last = NULL;
        int rc = found > 0 ? sd_lib.get_cursor(self->handle, &last) : 0;
        if (rc < 0)
            return rc;
        json_object_set_new(context, "journal", json_string(last != NULL ? last : ""));
    }
    return found == 0 ? sd_lib.seek_head(self->handle) : found;
}

static int
journal_open(journal_t *self, const char *root, fail_t *err)
{
    int rc = *root != '\0' ? sd_lib.open_directory(&self->handle, root, SD_OS_ROOT)
                           : sd_lib.open(&self->handle, SD_LOCAL_ONLY);
    if (rc >= 0)
        rc = self->fd = sd_lib.get_fd(self->handle);
    if (rc < 0)
        return fail_set(err, rc, "the journal can't be opened: %s", strerror(-rc));
    /* Files that are not there, or may not be read, are no error of the library's. */
    uint64_t bytes = 0;
    if (sd_lib.get_usage(self->handle, &bytes) < 0 || bytes == 0)
        return fail_set(err, -ENOENT,
                        "there is no journal in /var/log/journal or /run/log/journal that may be read: start "
                        "systemd-journald, or let the minion's user into the group systemd-journal");
    return 0;
}

journal_t *
journal_new(const char *root, json_t *services, json_t *context, fail_t *err)
{
    struct sigaction before;
    if (sd_load(err) < 0)
        return NULL;
    journal_t *self = xcalloc(1, sizeof(*self));
    self->fd = -1;
    journal_guard(&before);
    int rc = journal_open(self, root, err);
    if (rc >= 0) {
        (void) sd_lib.set_data_threshold(self->handle, LIMIT_BEACON_READ + 1);
        journal_filter(self, services);
        if ((rc = journal_begin(self, context)) < 0)
            (void) fail_set(err, rc, "the journal can't be read: %s", strerror(-rc));
    }
    if (journal_unguard(&before, rc, err) < 0)
        journal_destroy(&self, false);
    return self;
}

void
journal_destroy(journal_t **self_p, bool copied)
{
    journal_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    /* The copy of a fork shares the first one's descriptor of inotify, whose watches the library would end. */
    if (!copied && self->handle != NULL) {
        fail_auto_t why = FAIL_INIT;
        struct sigaction before;
        journal_guard(&before);
        sd_lib.close(self->handle);
        (void) journal_unguard(&before, 0, &why);
    }
    free(self);
}

int
journal_fd(const journal_t *self)
{
    return self->fd;
}

/* Where a file system tells no changes, as over the network, the library says when it wants to look by itself. */
int
journal_again_ms(const journal_t *self)
{
    uint64_t until_us = UINT64_MAX;
    if (self->more)
        return 0;
    if (sd_lib.get_timeout(self->handle, &until_us) < 0 || until_us == UINT64_MAX)
        return -1;
    int64_t wait_ms = (int64_t) (until_us / 1000) - clock_mono_ms();
    return wait_ms < LOOK_MIN_MS ? LOOK_MIN_MS : wait_ms > LOOK_MAX_MS ? LOOK_MAX_MS : (int) wait_ms;
}

/* NEW entry at which the library is, NULL with a negative *ret_rc. Adds its bytes to *bytes. */
static json_t *
journal_entry(journal_t *self, size_t *bytes, int *ret_rc)
{
    json_auto_t *entry = json_object();
    AUTO_FREE char *cursor = NULL;
    uint64_t at_us = 0, mono_us = 0;
    sd_id_t boot;
    const void *field;
    size_t len, budget = LIMIT_BEACON_READ, n = 0;
    int rc = sd_lib.get_cursor(self->handle, &cursor);
    if (rc >= 0)
        rc = sd_lib.get_realtime_usec(self->handle, &at_us);
    if (rc >= 0)
        rc = sd_lib.get_monotonic_usec(self->handle, &mono_us, &boot);
    if (rc >= 0) {
        json_object_set_new(entry, "__CURSOR", json_string(cursor));
        json_object_set_new(entry, "__REALTIME_TIMESTAMP", json_integer((json_int_t) at_us));
        json_object_set_new(entry, "__MONOTONIC_TIMESTAMP", json_integer((json_int_t) mono_us));
        sd_lib.restart_data(self->handle);
        while (n++ < FIELDS_MAX && (rc = sd_lib.enumerate_data(self->handle, &field, &len)) > 0)
            journal_field(entry, field, len, &budget);
        *bytes += LIMIT_BEACON_READ - budget;
    }
    *ret_rc = rc;
    return rc >= 0 ? STEAL(entry) : NULL;
}

/* An entry that can't be read, as its file is damaged or packed by a method that this library lacks, is left
 * out. */
static int
journal_entries(journal_t *self, json_t *context, journal_take_fn *take, void *cookie)
{
    int64_t until_us = clock_mono_us() + BUDGET_US;
    size_t bytes = 0;
    int rc = sd_lib.process(self->handle), bad = 0;
    self->more = false;
    while (rc >= 0 && !self->more && (rc = sd_lib.next(self->handle)) > 0) {
        json_auto_t *entry = journal_entry(self, &bytes, &bad);
        if (entry != NULL) {
            json_object_set(context, "journal", json_object_get(entry, "__CURSOR"));
            take(cookie, entry);
        } else
            log_warning("journal: an entry can't be read, and is left out: %s", strerror(-bad));
        self->more = bytes >= LIMIT_BEACON_READ || clock_mono_us() >= until_us;
    }
    return rc;
}

int
journal_read(journal_t *self, json_t *context, journal_take_fn *take, void *cookie, fail_t *err)
{
    struct sigaction before;
    journal_guard(&before);
    int rc = journal_entries(self, context, take, cookie);
    if (rc < 0)
        (void) fail_set(err, rc, "the journal can't be read: %s", strerror(-rc));
    return journal_unguard(&before, rc, err);
}
