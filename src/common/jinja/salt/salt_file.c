/* salt_file.c - Salt's filters that look at files of the host. Special files are never opened for reading, so
 * a template cannot hang on a FIFO. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/binary.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/jinja/salt/salt_filter.h"

enum { TEXT_BLOCK = 512, MAX_LINKS = 40 };

/* Reads the first bytes of a regular file: their number, or -1. */
static ssize_t
first_bytes(py_t *path, char *bytes, size_t n)
{
    struct stat st;
    int fd = py_is(path, PY_STR) ? open(py_cstr(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return -1;
    ssize_t got = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, bytes, n) : -1;
    close(fd);
    return got;
}

/* As Salt: no NUL, and UTF-8 or mostly printable characters, in the file's first bytes. */
JFILTER(is_text)
{
    char block[TEXT_BLOCK];
    ssize_t n = first_bytes(a[0], block, sizeof(block));
    if (n < 0 || memchr(block, '\0', (size_t) n) != NULL)
        return py_ref(PY_False);
    return py_bool(utf8_valid(block, (size_t) n) ||
                   binary_mostly_text(block, (size_t) n, false, "\n\r\t\f\b"));
}

JFILTER(is_binary)
{
    char block[BINARY_BLOCK];
    ssize_t n = first_bytes(a[0], block, sizeof(block));
    return py_bool(n > 0 && binary_is(block, (size_t) n));
}

/* ---- list_files --------------------------------------------------------------------------------------- */

/* A folder between the top and here, to detect links that lead in circles. */
typedef struct folder {
    const struct folder *up;
    dev_t dev;
    ino_t ino;
} folder_t;

/* Appends all paths below a folder, depth first. Links are followed unless they lead to a folder above. */
static int
salt_file_walk(py_t *out, const char *path, const folder_t *up)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return fs_is_passing(-errno)
                   ? py_raise_int(&py_RuntimeError, "cannot look at %s: %s", path, strerror(errno))
                   : 0;
    if (!S_ISDIR(st.st_mode))
        return 0;
    for (const folder_t *f = up; f != NULL; f = f->up) /* inside that folder already, through a link */
        if (f->dev == st.st_dev && f->ino == st.st_ino)
            return 0;
    const folder_t here = { up, st.st_dev, st.st_ino };
    char **names = NULL;

    /* Unreadable folders are left out, as os.walk does; passing errors (no descriptors, no memory) raise, as
     * an empty result would be wrong. */
    fail_auto_t err = FAIL_INIT;
    int rc = fs_names(path, &names, &err);
    rc = fs_is_passing(rc) ? py_raise_int(&py_RuntimeError, "%s", fail_text(&err)) : 0;
    rc = rc == 0 ? py_enter() : rc;
    for (size_t i = 0; names != NULL && names[i] != NULL && rc == 0 && (rc = py_tick()) == 0; i++) {
        char *inner AUTO_FREE = fs_join(path, names[i]);
        py_append_new(out, py_str_utf8(inner, strlen(inner)));
        rc = salt_file_walk(out, inner, &here);
    }
    strv_free(names);
    if (rc == 0)
        py_leave();
    return rc;
}

JFILTER(list_files)
{
    if (!py_is(a[0], PY_STR))
        return py_raise(&py_TypeError, "the folder must be a text, not '%s'", py_type_name(a[0]));
    AUTO(py) out = py_list();
    py_append(out, a[0]);
    return salt_file_walk(out, py_cstr(a[0]), NULL) == 0 ? STEAL(out) : NULL;
}

static const jfilter_t rows[] = {
    { JROW("is_bin_file", is_binary, JP("path"), 1, 1, 0), JF_WORLD, "Whether a file is not text." },
    { JROW("is_text_file", is_text, JP("fp_", "blocksize"), 1, 2, 0), JF_WORLD,
      "Whether a file looks like text." },
    { JROW("list_files", list_files, JP("directory"), 1, 1, 0), JF_WORLD,
      "A folder and all that is below it." },
};

const jfilter_table_t jfilters_salt_file = JTABLE(rows);
