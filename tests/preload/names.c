/* names.c - a library to preload: a directory service that hangs, and a host that moves. getpwuid_r waits while
 * the file NAMES_HANG exists; the host hub.test has the address that is in the file NAMES_ADDRESS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int
getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **ret_found)
{
    int (*real)(const char *, const char *, const struct addrinfo *,
                struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    const char *file = getenv("NAMES_ADDRESS");
    char address[64] = "";
    FILE *f = file && host && strcmp(host, "hub.test") == 0 ? fopen(file, "r") : NULL;

    if (!f)
        return real(host, service, hints, ret_found);
    if (!fgets(address, sizeof(address), f))
        address[0] = '\0';
    fclose(f);
    address[strcspn(address, "\n")] = '\0';
    return real(address, service, hints, ret_found);
}
