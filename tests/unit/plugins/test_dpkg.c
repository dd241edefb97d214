/* test_dpkg.c - paragraphs, and dpkg's database of a made-up host in a folder of its own. */
#include "unit/unit.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/deb822.h"
#include "plugins/lib/apt/dpkg.h"
#include "salt/value.h"

static char root[64];

static void
put(const char *path, const char *text)
{
    AUTO_FREE char *full = xasprintf("%s%s", root, path);
    AUTO_FREE char *dir = xstrndup(full, (size_t) (strrchr(full, '/') - full));
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(fs_mkdirs(dir, 0755, &err), 0);
    assert_int_equal(fs_write_quick(full, text, strlen(text), 0644, &err), 0);
}

#define STATUS                                                                                               \
    "Package: teapot\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.2-3\n"                   \
    "Depends: libspout (>= 1), water | milk\nSection: kitchen\nSource: crockery (1.2)\n"                     \
    "Description: a pot\n It is for tea.\n .\n And nothing else.\n\n"                                        \
    "Package: dpkg\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.21\n\n"                    \
    "Package: libspout\nStatus: install ok installed\nMulti-Arch: same\nArchitecture: i386\nVersion: 1\n\n"  \
    "Package: libspout\nStatus: install ok installed\nMulti-Arch: same\nArchitecture: amd64\nVersion: 1\n\n" \
    "Package: kettle\nStatus: hold ok installed\nArchitecture: all\nVersion: 9\n\n"                          \
    "Package: cup\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 2\n\n"                   \
    "Package: spoon\nStatus: purge ok not-installed\n\n"                                                     \
    "garbage without a colon\n"

static int
make_host(void **state)
{
    (void) str_copy(root, sizeof(root), "/tmp/halite-dpkg-XXXXXX");
    assert_non_null(mkdtemp(root));
    put("/var/lib/dpkg/status", STATUS);
    put("/var/lib/dpkg/diversions", "/usr/bin/pour\n/usr/bin/pour.old\nteapot\n/etc/mug\n/etc/mug.mine\n:\n");
    put("/var/lib/dpkg/info/teapot.list", "/.\n/usr\n/usr/bin\n/usr/bin/pour\n/usr/share/teapot\n");
    put("/var/lib/dpkg/info/kettle.list", "/.\n/usr\n/usr/bin\n/usr/bin/pour\n/etc/mug\n");
    put("/var/lib/dpkg/info/libspout:amd64.list", "/.\n/usr\n/usr/lib/libspout.so\n");
    put("/usr/share/doc/teapot/copyright", "License: MIT\ntext\nLicense: GPL-2+\nLicense: MIT\n");
    return 0;
}

static int
drop_host(void **state)
{
    return fs_remove_tree(root, NULL);
}

static const dpkg_pkg_t *
find(const dpkg_t *db, const char *pattern)
{
    for (size_t i = 0; i < dpkg_count(db); i++) {
        if (dpkg_match(db, dpkg_at(db, i), pattern))
            return dpkg_at(db, i);
    }
    return NULL;
}

static size_t
matches(const dpkg_t *db, const char *pattern)
{
    size_t n = 0;

    for (size_t i = 0; i < dpkg_count(db); i++)
        n += dpkg_match(db, dpkg_at(db, i), pattern);
    return n;
}

static void
test_paragraphs(void **state)
{
    static const char text[] = "\n\n# a note\nA: 1\nb :two\n  more\n\n \t\n#only\n\nC:\nno colon\n: x\nD: 4";
    const char *at = text, *end = text + strlen(text);
    deb822_auto_t para = DEB822_INIT;

    assert_true(deb822_next(&para, &at, end));
    AUTO_FREE char *two = deb822_text(&para, "B");
    assert_string_equal(two, "two\n  more");
    assert_int_equal(para.n, 2);
    assert_memory_equal(para.start, "# a note", 8);
    assert_true(deb822_next(&para, &at, end));
    assert_int_equal(para.n, 0);
    assert_true(deb822_next(&para, &at, end));
    assert_int_equal(para.n, 2);
    assert_int_equal(deb822_get(&para, "c")->value_len, 0);
    assert_null(deb822_get(&para, "x"));
    assert_false(deb822_next(&para, &at, end));
}

/* A comment within a value is none of its words, and what continues a line that is no field is left out with it. */
static void
test_lines_left_out(void **state)
{
    static const char text[] = "Suites: stable\n# testing\n  updates\nno colon\n of no field\nA: 1\n#\n";
    const char *at = text, *end = text + strlen(text);
    deb822_auto_t para = DEB822_INIT;

    assert_true(deb822_next(&para, &at, end));
    AUTO_FREE char *suites = deb822_text(&para, "Suites"), *one = deb822_text(&para, "A");
    assert_string_equal(suites, "stable\n  updates");
    assert_string_equal(one, "1");
    assert_int_equal(para.n, 2);
}

static void
test_packages(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(dpkg) db = dpkg_new(root, &err);

    assert_non_null(db);
    assert_string_equal(dpkg_native(db), "amd64");
    assert_int_equal(dpkg_count(db), 6);
    assert_int_equal(dpkg_count_all(db), 7);
    assert_string_equal(dpkg_at(db, 6)->name, "spoon");
    assert_string_equal(dpkg_at(db, 0)->name, "cup");
    assert_string_equal(dpkg_at(db, 3)->arch, "amd64");
    assert_string_equal(find(db, "kettle")->want, "hold");
    assert_false(dpkg_installed(find(db, "cup")));
    AUTO_FREE char *name = dpkg_binary_name(find(db, "libspout"));
    assert_string_equal(name, "libspout:amd64");
    AUTO_FREE char *field = dpkg_field(find(db, "teapot"), "source");
    assert_string_equal(field, "crockery (1.2)");
    AUTO_FREE char *text = dpkg_field(find(db, "teapot"), "Description");
    assert_string_equal(text, "a pot\n It is for tea.\n .\n And nothing else.");
    assert_null(dpkg_field(find(db, "teapot"), "Homepage"));
}

static void
test_names(void **state)
{
    AUTO(dpkg) db = dpkg_new(root, NULL);

    assert_int_equal(matches(db, "libspout"), 1);
    assert_int_equal(matches(db, "libspout:i386"), 1);
    assert_int_equal(matches(db, "libspout:*"), 2);
    assert_int_equal(matches(db, "lib*"), 2);
    assert_int_equal(matches(db, "nothing"), 0);
    assert_int_equal(matches(db, "*"), 6);
    assert_true(dpkg_mentioned(db, "water"));
    assert_true(dpkg_mentioned(db, "milk"));
    assert_false(dpkg_mentioned(db, "mil"));
    assert_false(dpkg_mentioned(db, ""));
}

static void
test_files(void **state)
{
    AUTO(dpkg) db = dpkg_new(root, NULL);

    json_auto_t *own = dpkg_files(db, find(db, "teapot"));
    assert_string_equal(json_string_value(json_array_get(own, 4)),
                        "package diverts others to: /usr/bin/pour.old");
    json_auto_t *other = dpkg_files(db, find(db, "kettle"));
    assert_string_equal(json_string_value(json_array_get(other, 4)),
                        "diverted by teapot to: /usr/bin/pour.old");
    assert_string_equal(json_string_value(json_array_get(other, 6)), "locally diverted to: /etc/mug.mine");
    json_auto_t *none = dpkg_files(db, find(db, "cup"));
    assert_int_equal(json_array_size(none), 0);
    AUTO_FREE char *license = dpkg_license(db, find(db, "teapot"));
    assert_string_equal(license, "GPL-2+, MIT");
    assert_true(dpkg_installed_at(db, "teapot") > 0);
    assert_int_equal(dpkg_installed_at(db, "libspout"), -1);
}

static void
test_owners(void **state)
{
    static const char *const rows[][2] = {
        { "/usr/share/teapot", "teapot" },
        { "/usr/share/teapot/", "teapot" },
        { "/usr/share/teapot/.", "teapot" },
        { "/usr/bin/pour", "kettle, teapot" },
        { "/usr/lib/libspout.so", "libspout" },
        { "/usr/lib/libspout", "" },
        { "libspout.so", "libspout" },
        { "/usr/*/libspout.so", "libspout" },
        { "/none", "" },
        { "", "kettle, libspout, teapot" },
    };
    AUTO(dpkg) db = dpkg_new(root, NULL);

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *owner = dpkg_owner(db, rows[i][0]);
        if (strcmp(owner, rows[i][1]) != 0)
            fail_msg("'%s' is of '%s', not of '%s'", rows[i][0], owner, rows[i][1]);
    }
}

static void
test_updates(void **state)
{
    put("/var/lib/dpkg/updates/0001", "Package: teapot\nStatus: install ok half-configured\n"
                                      "Architecture: amd64\nVersion: 1.3-1\n");
    put("/var/lib/dpkg/updates/tmp.i", "Package: teapot\nArchitecture: amd64\nVersion: 7\n");
    AUTO(dpkg) db = dpkg_new(root, NULL);
    assert_string_equal(find(db, "teapot")->version, "1.3-1");
    assert_string_equal(find(db, "teapot")->status, "half-configured");
}

/* They may say that a package has gone, or come. */
static void
test_unreadable_updates(void **state)
{
    AUTO_FREE char *updates = fs_join(root, "var/lib/dpkg/updates");
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(fs_remove_tree(updates, NULL), 0);
    assert_int_equal(symlink("updates", updates), 0);
    assert_null(dpkg_new(root, &err));
    assert_int_equal(err.code, -ELOOP);
    assert_non_null(strstr(fail_text(&err), updates));
}

static void
test_missing(void **state)
{
    fail_auto_t err = FAIL_INIT;

    assert_null(dpkg_new("/nonexistent-root", &err));
    assert_non_null(strstr(fail_text(&err), "/nonexistent-root/var/lib/dpkg/status"));
}

#define ON_HOST(test) cmocka_unit_test_setup_teardown(test, make_host, drop_host)

UNIT_MAIN(cmocka_unit_test(test_paragraphs), cmocka_unit_test(test_lines_left_out), ON_HOST(test_packages),
          ON_HOST(test_names), ON_HOST(test_files), ON_HOST(test_owners), ON_HOST(test_updates),
          ON_HOST(test_unreadable_updates), cmocka_unit_test(test_missing))
