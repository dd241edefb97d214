/* plist.c - see plist.h: which form a property list has. */
#include "plugins/lib/call/plist_int.h"

#include "common/py/py_error.h"

static bool
plist_starts(const char *bytes, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(bytes, with, strlen(with)) == 0;
}

py_t *
plist_read(const char *bytes, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf"; /* a UTF-8 text may begin with it */

    if (plist_starts(bytes, len, "bplist00"))
        return plist_read_binary(bytes, len);
    if (plist_starts(bytes, len, mark)) {
        bytes += strlen(mark);
        len -= strlen(mark);
    }
    if (plist_starts(bytes, len, "<?xml") || plist_starts(bytes, len, "<plist"))
        return plist_read_xml(bytes, len);
    return py_raise(&py_ValueError, "Invalid file");
}
