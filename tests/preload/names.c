/* names.c - a library to preload: a directory service that hangs. getpwuid_r waits while the file
 * NAMES_HANG exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define PAUSE_US 5000

int
getpwuid_r(uid_t uid, struct passwd *user, char *bytes, size_t size, struct passwd **ret_found)
{
    int (*real)(uid_t, struct passwd *, char *, size_t, struct passwd **) = dlsym(RTLD_NEXT, "getpwuid_r");
    const char *hang = getenv("NAMES_HANG");

    while (hang && access(hang, F_OK) == 0)
        (void) usleep(PAUSE_US);
    return real(uid, user, bytes, size, ret_found);
}
