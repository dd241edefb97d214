/* main_zmq.c - what libzmq's archive wants of other libraries for mechanisms and transports that Halite never uses:
 * Kerberos (all connections are CURVE) and libbsd (WebSocket). An idle minion has seven libraries fewer by that,
 * and starts sooner. The functions are called by nobody; those of Kerberos say that they are unavailable. A
 * program that has the shared libzmq is linked without this file.
 *
 * Without the headers: only the names matter. Hidden: libraries that are loaded later have the real ones. */
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define GSS_UNAVAILABLE (16U << 16) /* RFC 2744, 3.9.1: GSS_S_UNAVAILABLE */
#define UNAVAILABLE(name)                                                                                    \
    unsigned name(void);                                                                                     \
    unsigned name(void)                                                                                      \
    {                                                                                                        \
        return GSS_UNAVAILABLE;                                                                              \
    }

UNAVAILABLE(gss_accept_sec_context)
UNAVAILABLE(gss_acquire_cred)
UNAVAILABLE(gss_delete_sec_context)
UNAVAILABLE(gss_display_name)
UNAVAILABLE(gss_import_name)
UNAVAILABLE(gss_init_sec_context)
UNAVAILABLE(gss_release_buffer)
UNAVAILABLE(gss_release_cred)
UNAVAILABLE(gss_release_name)
UNAVAILABLE(gss_unwrap)
UNAVAILABLE(gss_wrap)

extern void *GSS_C_NT_HOSTBASED_SERVICE, *GSS_C_NT_USER_NAME;
void *GSS_C_NT_HOSTBASED_SERVICE, *GSS_C_NT_USER_NAME;

size_t strlcpy(char *to, const char *from, size_t size);
size_t
strlcpy(char *to, const char *from, size_t size)
{
    size_t n = 0;

    for (; from[n] != '\0'; n++)
        if (n + 1 < size)
            to[n] = from[n];
    if (size > 0)
        to[n < size ? n : size - 1] = '\0';
    return n;
}
#pragma GCC visibility pop
