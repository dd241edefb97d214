/* test_partfile.c - files that are managed in part: their links stay, and root follows nobody's out of
 * what is his. */
#include "unit/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"

enum { ALICE = 61001, BOB = 61002, SWAPS = 5000 };

/* NEW path below the folder. */
static char *
in(const char *name)
{
    return fs_join(dir, name);
}

static void
folder(const char *name, uid_t uid)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(mkdir(path, 0755), 0);
    assert_true(geteuid() != 0 || chown(path, uid, uid) == 0);
}

static void
file(const char *name, const char *text, uid_t uid)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(fs_write_quick(path, text, strlen(text), 0640, NULL), 0);
    assert_true(geteuid() != 0 || chown(path, uid, uid) == 0);
}

static void
link_to(const char *name, const char *target, uid_t uid)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(symlink(target, path), 0);
    assert_true(geteuid() != 0 || lchown(path, uid, uid) == 0);
}

static void
holds(const char *name, const char *want)
{
    AUTO_FREE char *path = in(name);
    buf_auto_t text = BUF_INIT;

    assert_int_equal(fs_read(path, 4096, &text, NULL), 0);
    assert_string_equal(buf_str(&text), want);
}

static bool
is_link(const char *name)
{
    AUTO_FREE char *path = in(name);
    struct stat st;

    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static int
put(const char *name, const char *text, fail_t *err)
{
    AUTO_FREE char *path = in(name);

    return partfile_put(path, text, strlen(text), 0604, err);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void
test_links(void **state)
{
    struct stat st;
    uid_t me = geteuid();
    AUTO_FREE char *real = in("real/file"), *fresh = in("real/fresh"), *absolute = in("b");

    folder("real", me);
    file("real/file", "old", me);
    link_to("a", absolute, me);
    link_to("b", "real/c", me);
    link_to("real/c", "../real/file", me);
    assert_int_equal(put("a", "new", NULL), 0);
    assert_true(is_link("a") && is_link("b") && is_link("real/c"));
    holds("real/file", "new");
    assert_int_equal(stat(real, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    /* A link to what is not there yet, and no link at all. */
    link_to("d", "real/fresh", me);
    assert_int_equal(put("d", "fresh", NULL), 0);
    assert_true(is_link("d"));
    holds("real/fresh", "fresh");
    assert_int_equal(stat(fresh, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    assert_int_equal(put("plain", "1", NULL), 0);
    assert_int_equal(put("plain", "2", NULL), 0);
    holds("plain", "2");
}

static void
test_refused(void **state)
{
    static const struct {
        const char *name, *target;
        int code;
    } rows[] = {
        { "round", "round", -ELOOP },        { "away", "nosuch/file", -ENOENT },
        { "pipe", "fifo", -EINVAL },         { "folder", ".", -EISDIR },
        { "other", "inner", -EISDIR },       { "below", "text/x", -ENOTDIR },
        { "slash", "nosuchfile/", -ENOENT },
    };

    folder("inner", geteuid());
    file("text", "x", geteuid());
    AUTO_FREE char *fifo = in("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        link_to(rows[i].name, rows[i].target, geteuid());
        assert_int_equal(put(rows[i].name, "new", &err), rows[i].code);
        assert_non_null(strstr(fail_text(&err), rows[i].name));
        assert_true(is_link(rows[i].name));
    }
    holds("text", "x");
}

/* ---- other people's links -------------------------------------------------------------------- */

/* What root does in a home is what its owner could do there. */
static void
test_owners(void **state)
{
    static const struct {
        const char *name, *target;
        uid_t link, home;
        bool followed;
    } rows[] = {
        { "alice/own", "more/own", ALICE, ALICE, true },
        { "alice/roots-file", "more/root", ALICE, ALICE, false },
        { "alice/bobs-file", "more/bob", ALICE, ALICE, false },
        { "alice/to-root", "../root/file", ALICE, ALICE, false },
        { "alice/new-at-root", "../root/fresh", ALICE, ALICE, false },
        { "alice/by-root", "../root/file", 0, ALICE, false }, /* she may have given that link its name */
        { "alice/to-bob", "../bob/own", ALICE, ALICE, false },
        { "alice/by-folder", "door/file", ALICE, ALICE, false },
        { "root/by-alice", "../alice/more/own", ALICE, 0, true },
        { "root/by-alice-to-root", "file", ALICE, 0, false },
        { "root/by-root", "../alice/more/own", 0, 0, true },
    };

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    folder("root", 0);
    folder("alice", ALICE);
    folder("alice/more", ALICE);
    folder("bob", BOB);
    file("root/file", "root", 0);
    file("bob/own", "bob", BOB);
    file("alice/more/root", "root", 0);
    file("alice/more/bob", "bob", BOB);
    link_to("alice/door", "../root", ALICE);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        file("alice/more/own", "alice", ALICE);
        link_to(rows[i].name, rows[i].target, rows[i].link);
        int rc = put(rows[i].name, "new", &err);
        if ((rc == 0) != rows[i].followed)
            fail_msg("%s: %d %s", rows[i].name, rc, fail_text(&err));
        if (rc != 0)
            assert_non_null(strstr(fail_text(&err), "root does not follow it"));
        assert_true(is_link(rows[i].name));
        holds("alice/more/own", rc == 0 ? "new" : "alice");
    }
    holds("root/file", "root");
    holds("bob/own", "bob");
    holds("alice/more/root", "root");
    holds("alice/more/bob", "bob");
    AUTO_FREE char *fresh = in("root/fresh");
    assert_true(fs_absent(fresh));
}

/* For what is managed as a whole root's own links hold, wherever they lie; others' do not by being on such
 * a way. */
static void
test_roots_links(void **state)
{
    static const struct {
        const char *path;
        bool followed, strictly;
    } rows[] = {
        { "alice/current/file", true, false },   { "alice/conf", true, false },
        { "alice/fresh", true, false },          { "alice/own", true, true },
        { "alice/hers", false, false },          { "alice/current/hers", false, false },
        { "alice/hers-too/conf", false, false },
    };

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    folder("root", 0);
    folder("alice", ALICE);
    folder("alice/more", ALICE);
    file("root/file", "root", 0);
    file("alice/more/own", "alice", ALICE);
    link_to("alice/current", "../root", 0);
    link_to("alice/conf", "current/file", 0);
    link_to("alice/fresh", "../root/fresh", 0);
    link_to("alice/own", "more/own", 0);
    link_to("alice/hers", "conf", ALICE);
    link_to("alice/hers-too", "more/..", ALICE);
    link_to("root/hers", "file", ALICE);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *path = in(rows[i].path);
        partfile_auto_t mild = PARTFILE_INIT, strict = PARTFILE_INIT;
        int rc = partfile_find(&mild, path, PARTFILE_SPECIAL, NULL),
            strictly = partfile_open(&strict, path, NULL);
        if (rc != (rows[i].followed ? 0 : -EPERM) || strictly != (rows[i].strictly ? 0 : -EPERM))
            fail_msg("%s: %d, %d", rows[i].path, rc, strictly);
    }
}

/* The folder's owner puts a link of hers in the place of root's and back, again and again. Sets the
 * process that does. */
static pid_t
swapper(const char *one, const char *other)
{
    AUTO_FREE char *a = in(one), *b = in(other);
    pid_t pid = fork();

    if (pid == 0)
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (pid == 0) {
        if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) != 0)
            _exit(1);
    }
    return pid;
}

/* Whose a link is and where it leads is told of the same one. */
static void
test_swapped_link(void **state)
{
    struct stat good, st;

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    folder("root", 0);
    folder("victim", 0);
    folder("alice", ALICE);
    file("root/conf", "root", 0);
    file("victim/conf", "victim", 0);
    link_to("alice/conf", "../root/conf", 0);
    link_to("alice/hers", "../victim/conf", ALICE);
    AUTO_FREE char *root = in("root"), *path = in("alice/conf");
    assert_int_equal(stat(root, &good), 0);
    pid_t pid = swapper("alice/conf", "alice/hers");
    assert_true(pid > 0);
    int astray = 0;
    for (int i = 0; i < SWAPS && astray == 0; i++) {
        destpath_auto_t resolved = DESTPATH_INIT;
        if (destpath_find(&resolved, path, 0) == 0)
            astray += fstat(resolved.folder, &st) != 0 || st.st_ino != good.st_ino;
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(astray, 0);
}

/* A folder that is a link leads away as a file does: nobody's .ssh is another one's. */
static void
test_ways(void **state)
{
    static const struct {
        const char *name;
        bool followed;
    } rows[] = {
        { "alice/door/file", false },       { "alice/door/fresh", false }, { "alice/bobs/own", false },
        { "alice/door/../bob/own", false }, { "alice/in/own", true },      { "alice/in/../more//own", true },
        { "home/more/own", true },          { "home/in/own", true },       { "home/door/file", false },
        { "alice/roots/file", false },
    };

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    folder("root", 0);
    folder("alice", ALICE);
    folder("alice/more", ALICE);
    folder("bob", BOB);
    file("root/file", "root", 0);
    file("bob/own", "bob", BOB);
    link_to("alice/door", "../root", ALICE);
    link_to("alice/roots", "../root", 0);
    link_to("alice/bobs", "../bob", ALICE);
    link_to("alice/in", "./more/", ALICE);
    link_to("home", "alice", 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        file("alice/more/own", "alice", ALICE);
        int rc = put(rows[i].name, "new", &err);
        if ((rc == 0) != rows[i].followed)
            fail_msg("%s: %d %s", rows[i].name, rc, fail_text(&err));
        if (rc != 0)
            assert_non_null(strstr(fail_text(&err), "root does not follow it"));
        holds("alice/more/own", rc == 0 ? "new" : "alice");
    }
    holds("root/file", "root");
    holds("bob/own", "bob");
    AUTO_FREE char *fresh = in("root/fresh");
    assert_true(fs_absent(fresh));
}

static void
belongs_to(const char *name, uid_t uid)
{
    AUTO_FREE char *path = in(name);
    struct stat st;

    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != uid)
        fail_msg("%s is not a folder of %u", name, uid);
}

/* Folders that are missing: behind a user's link they are only made in his own folder, and as his. */
static void
test_missing(void **state)
{
    static const struct {
        const char *path;
        uid_t uid;
        bool made;
    } rows[] = {
        { "alice/door/x/y", ALICE, false }, { "alice/door/x/", (uid_t) -1, false },
        { "alice/in/x//y/", ALICE, true },  { "alice/in/z/../z", (uid_t) -1, false },
        { "alice/in/z", BOB, false },       { "home/a/b", (uid_t) -1, true },
        { "home/c/d", BOB, true },          { "alice/in/../e", ALICE, true },
        { "root/f/g", ALICE, true },        { "alice/in", BOB, true },
        { "root/file/h", ALICE, false },    { "alice/file/..", ALICE, false },
    };

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    folder("root", 0);
    folder("alice", ALICE);
    folder("alice/more", ALICE);
    file("root/file", "root", 0);
    file("alice/file", "alice", ALICE);
    link_to("alice/door", "../root", ALICE);
    link_to("alice/in", "./more", ALICE);
    link_to("home", "alice", 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        const destpath_made_t made = { .mode = 0700, .uid = rows[i].uid, .gid = rows[i].uid };
        AUTO_FREE char *path = in(rows[i].path);
        fail_auto_t err = FAIL_INIT;
        int rc = destpath_make_folder(path, 0, &made, &err);
        if ((rc == 0) != rows[i].made)
            fail_msg("%s: %d %s", rows[i].path, rc, fail_text(&err));
        assert_true(rc == 0 || rc == -ENOTDIR || strstr(fail_text(&err), "root does not follow it") != NULL);
    }
    AUTO_FREE char *x = in("root/x"), *z = in("alice/more/z");
    assert_true(fs_absent(x) && fs_absent(z));
    belongs_to("alice/more", ALICE);
    belongs_to("alice/more/x", ALICE);
    belongs_to("alice/more/x/y", ALICE);
    belongs_to("alice/a", 0);
    belongs_to("alice/a/b", 0);
    belongs_to("alice/c", ALICE);
    belongs_to("alice/c/d", BOB);
    belongs_to("alice/e", ALICE);
    belongs_to("root/f", 0);
    belongs_to("root/f/g", ALICE);
}

/* Once the file is found, another folder or link in its place changes nothing: neither what is read nor
 * what is written. */
static void
test_swapped(void **state)
{
    const landing_t fresh = { (uid_t) -1, (gid_t) -1, 0600, NULL };
    AUTO_FREE char *path = in("link"), *home = in("home"), *aside = in("aside"), *kept = in("aside/file");
    partfile_auto_t part = PARTFILE_INIT;
    buf_auto_t text = BUF_INIT;

    folder("home", geteuid());
    folder("victim", geteuid());
    file("home/file", "home", geteuid());
    file("victim/file", "victim", geteuid());
    link_to("link", "home/file", geteuid());
    assert_int_equal(partfile_open(&part, path, NULL), 0);
    assert_int_equal(rename(home, aside), 0);
    link_to("home", "victim", geteuid());
    assert_int_equal(unlink(kept), 0);
    link_to("aside/file", "../victim/file", geteuid());
    assert_int_equal(partfile_read(&part, &text, NULL), 0);
    assert_string_equal(buf_str(&text), "home");
    assert_int_equal(partfile_write(&part, "new", 3, &fresh, NULL), 0);
    holds("victim/file", "victim");
    holds("aside/file", "new");
    assert_false(is_link("aside/file"));
}

/* Edits and their backups stay in the folder that was found, and with the file that was read. */
static void
test_swapped_edit(void **state)
{
    static const struct {
        const char *home;
        bool names;
    } rows[] = { { "one", false }, { "two", true } };

    folder("victim", geteuid());
    file("victim/file", "victim", geteuid());
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *home = in(rows[i].home), *path = fs_join(home, "file"), *other = fs_join(home, "b"),
                       *third = fs_join(home, "c"), *aside = xasprintf("%s-aside", home),
                       *kept = fs_join(aside, "file");
        AUTO_FREE char *own = xasprintf("%s-aside/%s", rows[i].home, rows[i].names ? "b" : "file"),
                       *saved = xasprintf("%s-aside/file.bak", rows[i].home);
        partfile_auto_t part = PARTFILE_INIT;
        folder(rows[i].home, geteuid());
        AUTO_FREE char *name = xasprintf("%s/file", rows[i].home);
        file(name, "home", geteuid());
        assert_true(!rows[i].names || (link(path, other) == 0 && link(path, third) == 0));
        assert_int_equal(partfile_edit(&part, path, NULL), 1);
        assert_int_equal(rename(home, aside), 0);
        link_to(rows[i].home, "victim", geteuid());
        assert_int_equal(unlink(kept), 0);
        AUTO_FREE char *trap = xasprintf("%s-aside/file", rows[i].home);
        link_to(trap, "../victim/file", geteuid());
        assert_int_equal(fop_backup_beside(&part, path, ".bak", FOP_SAME, NULL), 0);
        assert_int_equal(fop_rewrite(&part, "new", 3, true, NULL), 0);
        holds("victim/file", "victim");
        holds(saved, "home");
        holds(own, "new");
        AUTO_FREE char *bak = in("victim/file.bak");
        assert_true(fs_absent(bak));
    }
}

/* What is not a file is written to and stays; a link that is to give way is not followed. */
static void
test_kinds(void **state)
{
    AUTO_FREE char *fifo = in("fifo"), *resolved = in("way"), *away = in("away");
    const landing_t fresh = { (uid_t) -1, (gid_t) -1, 0600, NULL };
    partfile_auto_t part = PARTFILE_INIT, link = PARTFILE_INIT;
    char got[8] = "";
    struct stat st;

    assert_int_equal(mkfifo(fifo, 0600), 0);
    link_to("way", "fifo", geteuid());
    AUTO_FD end = open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(partfile_find(&part, resolved, PARTFILE_SPECIAL, NULL), 0);
    assert_true(part.special && part.resolved.linked);
    assert_int_equal(fop_rewrite(&part, "text", 4, false, NULL), 0);
    assert_int_equal(read(end, got, sizeof(got)), 4);
    assert_string_equal(got, "text");
    assert_true(lstat(fifo, &st) == 0 && S_ISFIFO(st.st_mode) && is_link("way"));
    file("file", "old", geteuid());
    link_to("away", "file", geteuid());
    assert_int_equal(partfile_find(&link, away, DESTPATH_LINK, NULL), 0);
    assert_int_equal(link.file, -1);
    assert_int_equal(partfile_write(&link, "new", 3, &fresh, NULL), 0);
    assert_false(is_link("away"));
    holds("away", "new");
    holds("file", "old");
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_DIR(test_links), IN_DIR(test_refused), IN_DIR(test_owners), IN_DIR(test_roots_links),
          IN_DIR(test_ways), IN_DIR(test_missing), IN_DIR(test_swapped_link), IN_DIR(test_swapped),
          IN_DIR(test_swapped_edit), IN_DIR(test_kinds))
