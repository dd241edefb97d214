/* test_pyinstall.c - where an interpreter's folders are, by made-up hosts; each list is what `python3 -Ic 'import sys;
 * print(sys.path)'` says on a host of that kind. */
#include "unit/unit.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/pyinstall.h"
#include "salt/value.h"

/* Debian 12, Fedora 38, Python's own build below /opt, and a virtual environment of Debian's. */
static const struct {
    const char *files[12]; /* "PATH", "PATH=TEXT" or, a link, "PATH>TARGET" */
    const char *named;     /* the option `python` */
    const char *program, *version, *path;
} rows[] = {
    { { "/usr/bin/python3.11", "/usr/bin/python3>python3.11", "/usr/lib/python3.11/os.py",
        "/usr/lib/python3/dist-packages/x", "/usr/local/lib/python3.11/dist-packages/x",
        "/usr/lib/python3.11/site-packages/x" },
      "",
      "/usr/bin/python3",
      "3.11",
      "[\"/usr/lib/python311.zip\", \"/usr/lib/python3.11\", \"/usr/lib/python3.11/lib-dynload\", "
      "\"/usr/local/lib/python3.11/dist-packages\", \"/usr/lib/python3/dist-packages\"]" },
    { { "/usr/bin/python3.11", "/usr/bin/python3>python3.11", "/usr/lib64/python3.11/os.py",
        "/usr/lib64/python3.11/site-packages/x", "/usr/lib/python3.11/site-packages/x",
        "/usr/local/lib/python3.11/site-packages/x" },
      "",
      "/usr/bin/python3",
      "3.11",
      "[\"/usr/lib64/python311.zip\", \"/usr/lib64/python3.11\", \"/usr/lib64/python3.11/lib-dynload\", "
      "\"/usr/local/lib/python3.11/site-packages\", \"/usr/lib64/python3.11/site-packages\", "
      "\"/usr/lib/python3.11/site-packages\"]" },
    { { "/opt/py/bin/python3.9", "/opt/py/lib/python3.9/os.py", "/opt/py/lib/python3.9/site-packages/pkg/x",
        "/opt/py/lib/python3.9/site-packages/b.pth=/srv/code\nabsent\nimport os\n# pkg\n\n",
        "/opt/py/lib/python3.9/site-packages/a.pth=pkg\n", "/srv/code/x" },
      "/opt/py/bin/python3.9",
      "/opt/py/bin/python3.9",
      "3.9",
      "[\"/opt/py/lib/python39.zip\", \"/opt/py/lib/python3.9\", \"/opt/py/lib/python3.9/lib-dynload\", "
      "\"/opt/py/lib/python3.9/site-packages\", \"/opt/py/lib/python3.9/site-packages/pkg\", \"/srv/code\"]" },
    { { "/usr/bin/python3.11", "/usr/lib/python3.11/os.py", "/usr/lib/python3/dist-packages/x",
        "/venv/pyvenv.cfg=home = /usr/bin\ninclude-system-site-packages = false\n",
        "/venv/lib/python3.11/site-packages/x", "/venv/bin/python3>../../usr/bin/python3.11" },
      "/venv/bin/python3",
      "/venv/bin/python3",
      "3.11",
      "[\"/usr/lib/python311.zip\", \"/usr/lib/python3.11\", \"/usr/lib/python3.11/lib-dynload\", "
      "\"/venv/lib/python3.11/site-packages\"]" },
    { { "/usr/bin/python3.11", "/usr/lib/python3.11/os.py", "/usr/lib/python3/dist-packages/x",
        "/venv/pyvenv.cfg=Include-System-Site-Packages=TRUE\n", "/venv/lib/python3.11/site-packages/x",
        "/venv/bin/python3>../../usr/bin/python3.11" },
      "/venv/bin/python3",
      "/venv/bin/python3",
      "3.11",
      "[\"/usr/lib/python311.zip\", \"/usr/lib/python3.11\", \"/usr/lib/python3.11/lib-dynload\", "
      "\"/venv/lib/python3.11/site-packages\", \"/usr/lib/python3/dist-packages\"]" },
    /* A library that is not where it belongs, a file with another name, and no Python at all. */
    { { "/usr/bin/python3.11", "/usr/bin/python3>python3.11" }, "", "/usr/bin/python3", "3.11", NULL },
    { { "/usr/bin/python3", "/usr/lib/python3.11/os.py" }, "", "/usr/bin/python3", "0.0", NULL },
    { { "/usr/lib/python3.11/os.py" }, "", NULL, "0.0", NULL },
};

static void
make(const char *root, const char *file)
{
    size_t len = strcspn(file, "=>");
    AUTO_FREE char *path = xasprintf("%s%.*s", root, (int) len, file);
    AUTO_FREE char *folder = xstrndup(path, (size_t) (strrchr(path, '/') - path));

    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    if (file[len] == '>') {
        assert_int_equal(symlink(file + len + 1, path), 0);
        return;
    }
    const char *text = file[len] == '=' ? file + len + 1 : "";
    assert_true(fs_write_quick(path, text, strlen(text), 0755, NULL) >= 0);
}

static void
test_hosts(void **state)
{
    assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        char root[] = "/tmp/halite-unit-XXXXXX";
        pyinstall_auto_t python = { 0 };

        assert_non_null(mkdtemp(root));
        for (size_t k = 0; rows[i].files[k] != NULL; k++)
            make(root, rows[i].files[k]);
        pyinstall_find(&python, root, rows[i].named);
        AUTO_FREE char *version = xasprintf("%d.%d", python.major, python.minor);
        json_auto_t *path = pyinstall_path(&python, root);
        AUTO_FREE char *text = path != NULL ? json_dumps(path, 0) : NULL;
        if (!str_eq(python.program, rows[i].program) || !str_eq(version, rows[i].version) ||
            !str_eq(text, rows[i].path))
            fail_msg("row %zu: %s %s %s", i, python.program, version, text);
        assert_int_equal(fs_remove_tree(root, NULL), 0);
    }
}

/* The package is one that is installed, one that the option names, or none. */
static void
test_salt(void **state)
{
    char root[] = "/tmp/halite-unit-XXXXXX";
    json_auto_t *opts = json_object();

    assert_non_null(mkdtemp(root));
    AUTO_FREE char *none = pyinstall_salt(root, opts);
    assert_null(none);
    make(root, "/usr/lib/python3/dist-packages/salt/__init__.py");
    AUTO_FREE char *found = pyinstall_salt(root, opts);
    assert_string_equal(found, "/usr/lib/python3/dist-packages");
    json_object_set_new(opts, "python_salt", json_string("/srv/salt-3006"));
    AUTO_FREE char *told = pyinstall_salt(root, opts);
    assert_string_equal(told, "/srv/salt-3006");
    json_object_set_new(opts, "python_salt", json_false());
    AUTO_FREE char *off = pyinstall_salt(root, opts);
    assert_null(off);
    assert_int_equal(fs_remove_tree(root, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_hosts), cmocka_unit_test(test_salt))
