/* syslogline.c - see syslogline.h. */
#include "common/base/syslogline.h"

#include <netdb.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/limits.h"

#define UDP       "udp://"
#define FILE_URL  "file://"
#define UDP_PORT  "514"
#define LAST_HEAD 64
#define KNOWN_ARE "udp://HOST:PORT/LOG_FACILITY and file:///dev/log/LOG_FACILITY"
#define MARK_OF   "LOG_"

static const struct {
    const char *name;
    int code;
} facilities[] = {
    { "LOG_AUTH", LOG_AUTH },     { "LOG_AUTHPRIV", LOG_AUTHPRIV }, { "LOG_CRON", LOG_CRON },
    { "LOG_DAEMON", LOG_DAEMON }, { "LOG_FTP", LOG_FTP },           { "LOG_KERN", LOG_KERN },
    { "LOG_LOCAL0", LOG_LOCAL0 }, { "LOG_LOCAL1", LOG_LOCAL1 },     { "LOG_LOCAL2", LOG_LOCAL2 },
    { "LOG_LOCAL3", LOG_LOCAL3 }, { "LOG_LOCAL4", LOG_LOCAL4 },     { "LOG_LOCAL5", LOG_LOCAL5 },
    { "LOG_LOCAL6", LOG_LOCAL6 }, { "LOG_LOCAL7", LOG_LOCAL7 },     { "LOG_LPR", LOG_LPR },
    { "LOG_MAIL", LOG_MAIL },     { "LOG_NEWS", LOG_NEWS },         { "LOG_SYSLOG", LOG_SYSLOG },
    { "LOG_USER", LOG_USER },     { "LOG_UUCP", LOG_UUCP },
};

/* The parts of an address. */
typedef struct place {
    char *path; /* of a socket; NULL: a host */
    char *host, *port;
    int facility;
} place_t;

/* Set once, before there are threads. */
static struct {
    char *address;
    const char *program;
    _Atomic int fd;
    struct sockaddr_storage to;
    socklen_t to_len;
    int facility;
    char last_head[LAST_HEAD];
} line = { .fd = -1 };

static void
syslogline_place_free(place_t *place)
{
    free(place->path);
    free(place->host);
    free(place->port);
}

/* ---- the address ------------------------------------------------------------------------------ */

static int
take_facility(place_t *place, const char *name, const char *address, fail_t *err)
{
    for (size_t i = 0; i < NELEMS(facilities); i++) {
        if (strcasecmp(facilities[i].name, name) == 0) {
            place->facility = facilities[i].code;
            return 0;
        }
    }
    return fail_set(err, -EINVAL,
                    "'%s': there is no facility '%s'; known are LOG_DAEMON, LOG_USER, LOG_LOCAL0 "
                    "to LOG_LOCAL7 and the others of syslog(3)",
                    address, name);
}

/* Reads "HOST", "HOST:PORT" or "[ADDRESS]:PORT". */
static int
take_host(place_t *place, const char *text, size_t len, const char *address, fail_t *err)
{
    AUTO_FREE char *whole = xstrndup(text, len);
    char *host = whole + (*whole == '['), *end = *whole == '[' ? strchr(whole, ']') : strchr(whole, ':');
    const char *rest = end != NULL ? end + (*whole == '[') : "";
    long long port;

    if (*whole == '[' && end == NULL)
        return fail_set(err, -EINVAL, "'%s': the ']' is missing", address);
    if (*rest == ':' && !str_to_int(rest + 1, 1, 65535, &port))
        return fail_set(err, -EINVAL, "'%s': '%s' is not a port", address, rest + 1);
    place->port = xstrdup(*rest == ':' ? rest + 1 : UDP_PORT);
    if (end != NULL)
        *end = '\0';
    place->host = xstrdup(host);
    return *host != '\0' ? 0 : fail_set(err, -EINVAL, "'%s' names no host", address);
}

static int
syslogline_parse(place_t *place, const char *address, fail_t *err)
{
    *place = (place_t){ .facility = LOG_USER };
    if (str_starts(address, UDP)) {
        /* Reads an address of UDP with its facility. */
        const char *text = address + strlen(UDP), *slash = strchrnul(text, '/');
        int rc = take_host(place, text, (size_t) (slash - text), address, err);
        return rc == 0 && slash[0] != '\0' && slash[1] != '\0' ? take_facility(place, slash + 1, address, err)
                                                               : rc;
    }
    if (str_starts(address, FILE_URL)) {
        /* Reads a file's path and facility. */
        const char *path = address + strlen(FILE_URL), *last = strrchr(path, '/');
        struct sockaddr_un unix_address;
        size_t len = strlen(path);
        int rc = 0;
        if (*path != '/')
            return fail_set(err, -EINVAL, "'%s' has no absolute path: file:///dev/log", address);
        if (strncasecmp(last + 1, MARK_OF, strlen(MARK_OF)) == 0) {
            rc = take_facility(place, last + 1, address, err);
            len = (size_t) (last - path);
        }
        place->path = xstrndup(path, len);
        if (rc == 0 && (len == 0 || len >= sizeof(unix_address.sun_path)))
            return fail_set(err, -EINVAL, "'%s': a socket's path has 1 to %zu characters", address,
                            sizeof(unix_address.sun_path) - 1);
        return rc;
    }
    if (str_starts(address, "tcp://"))
        return fail_set(
            err, -EINVAL,
            "'%s': the log does not wait for a connection; use file:///dev/log and let the syslog daemon "
            "there send it on, or udp://",
            address);
    return fail_set(err, -EINVAL, "'%s': known are a path, " KNOWN_ARE, address);
}

int
syslogline_check(const char *address, fail_t *err)
{
    place_t place;
    int rc = syslogline_parse(&place, address, err);

    syslogline_place_free(&place);
    return rc;
}

/* ---- the socket ------------------------------------------------------------------------------- */

/* Opens an unconnected socket: a daemon that restarts is reached again without reconnecting. */
static int
open_socket(const char *address, fail_t *err)
{
    AUTO_FD probe = socket(line.to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    /* Checks that a local daemon listens. A remote one does not answer, so nothing is known of it. */
    if (probe < 0)
        return fail_set(err, -errno, "%s: %s", address, strerror(errno));
    if (line.to.ss_family == AF_UNIX && connect(probe, (const struct sockaddr *) &line.to, line.to_len) != 0)
        return fail_set(
            err, -errno,
            "The log_file does not exist. Logging not setup correctly or syslog service not started.\n"
            "%s: no syslog daemon listens there: %s",
            address, strerror(errno));
    int fd = socket(line.to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_set(err, -errno, "%s: %s", address, strerror(errno));
    if (line.fd >= 0)
        (void) close(line.fd);
    line.fd = fd;
    return 0;
}

int
syslogline_open(const char *address, const char *program, fail_t *err)
{
    place_t place;
    int rc = 0;

    if (line.fd >= 0 && str_eq(line.address, address))
        return 0;
    rc = syslogline_parse(&place, address, err);
    if (rc == 0 && place.path == NULL) {
        /* The host's first address. UDP has no answer: a host without a daemon goes unnoticed. */
        struct addrinfo *found = NULL, hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV };
        int code = getaddrinfo(place.host, place.port, &hints, &found);
        if (code != 0) {
            rc = fail_set(err, -EHOSTUNREACH, "%s: %s", address, gai_strerror(code));
        } else {
            memcpy(&line.to, found->ai_addr, found->ai_addrlen);
            line.to_len = found->ai_addrlen;
            freeaddrinfo(found);
        }
    } else if (rc == 0) {
        /* The address of a local socket. */
        struct sockaddr_un *to = (struct sockaddr_un *) &line.to;
        to->sun_family = AF_UNIX;
        str_copy(to->sun_path, sizeof(to->sun_path), place.path);
        line.to_len = sizeof(*to);
    }
    if (rc == 0)
        rc = open_socket(address, err);
    if (rc == 0) {
        free(line.address);
        line.address = xstrdup(address);
        line.program = program;
        line.facility = place.facility;
        (void) snprintf(line.last_head, sizeof(line.last_head), "<%d>%.40s: ", place.facility | LOG_CRIT,
                        program);
    }
    syslogline_place_free(&place);
    return rc;
}

bool
syslogline_is_open(void)
{
    return line.fd >= 0;
}

/* ---- sending ---------------------------------------------------------------------------------- */

void
syslogline_send(int severity, const char *message)
{
    buf_auto_t out = BUF_INIT;
    time_t now = time(NULL);
    char stamp[32];
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S", &tm);
    buf_printf(&out, "<%d>%s %s[%d]: %s", line.facility | severity, stamp, line.program, (int) getpid(),
               message);
    size_t len = out.len < LIMIT_SYSLOG_LINE ? out.len : LIMIT_SYSLOG_LINE;
    /* A failure has nowhere to be reported. */
    (void) sendto(line.fd, out.data, len, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *) &line.to,
                  line.to_len);
}

void
syslogline_last(const char *text, size_t len)
{
    struct iovec parts[] = { { line.last_head, strlen(line.last_head) }, { (char *) text, len } };
    struct msghdr message = {
        .msg_name = &line.to, .msg_namelen = line.to_len, .msg_iov = parts, .msg_iovlen = NELEMS(parts)
    };

    (void) sendmsg(line.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}
