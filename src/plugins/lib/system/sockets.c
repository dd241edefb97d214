/* sockets.c - see sockets.h: TCP and UDP sockets from /proc/net, and the processes that hold them, by the
 * inodes of /proc/PID/fd. */
#include "plugins/lib/system/sockets.h"

#include <arpa/inet.h>

#include "common/host/procfs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "salt/value.h"

/* "0100007F" or 32 digits: groups of four bytes in the host's order. */
static bool
hex_address(const char *hex, char out[INET6_ADDRSTRLEN])
{
    uint32_t words[4] = { 0 };
    size_t n = strlen(hex) / 8;

    if (strlen(hex) != 8 && strlen(hex) != 32)
        return false;
    for (size_t i = 0; i < n; i++) {
        char part[9] = { 0 };
        memcpy(part, hex + i * 8, 8);
        words[i] = (uint32_t) strtoul(part, NULL, 16);
    }
    /* An IPv4 peer of an IPv6 socket. */
    if (n == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff))
        return inet_ntop(AF_INET, &words[3], out, INET6_ADDRSTRLEN) != NULL;
    return inet_ntop(n == 1 ? AF_INET : AF_INET6, words, out, INET6_ADDRSTRLEN) != NULL;
}

/* False for lines of another form, such as the header. */
bool
sock_parse(const char *line, sock_row_t *out)
{
    char local[64], remote[64];

    return sscanf(line, " %*d: %63[0-9A-Fa-f]:%x %63[0-9A-Fa-f]:%x %x %x:%x %*s %*s %u %*d %lu", local,
                  &out->local_port, remote, &out->remote_port, &out->state, &out->send_q, &out->recv_q,
                  &out->uid, &out->inode) == 9 &&
           hex_address(local, out->local) && hex_address(remote, out->remote);
}

/* Unreadable files give no rows and *err. NEW array of *ret_n. */
sock_row_t *
sock_rows(const char *proto, size_t *ret_n, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("/proc/net/%s", proto);
    char **lines = procfs_lines(path, err);
    sock_row_t *rows = xcalloc(strv_len(lines) + 1, sizeof(*rows));
    size_t n = 0;

    for (size_t i = 0; lines[i] != NULL; i++)
        n += sock_parse(lines[i], &rows[n]);
    strv_free(lines);
    *ret_n = n;
    return rows;
}

const char *
sock_state(unsigned state)
{
    static const char *const names[] = { "",           "ESTABLISHED", "SYN_SENT",  "SYN_RECV",
                                         "FIN_WAIT1",  "FIN_WAIT2",   "TIME_WAIT", "CLOSE",
                                         "CLOSE_WAIT", "LAST_ACK",    "LISTEN",    "CLOSING" };

    return state < NELEMS(names) ? names[state] : "";
}

/* Adds the sockets of one process; a process that ended or that belongs to another user is skipped. */
static int
add_owned(json_t *owners, pid_t pid, fail_t *err)
{
    AUTO_FREE char *folder = xasprintf("/proc/%d/fd", (int) pid);
    char **names = NULL;
    procfs_proc_t p = { 0 };
    int rc = fop_names(folder, &names, err);

    for (size_t i = 0; names[i] != NULL; i++) {
        AUTO_FREE char *name = xasprintf("fd/%s", names[i]);
        AUTO_FREE char *target = procfs_link(pid, name, err);
        if (!str_starts(target, "socket:["))
            continue;
        if (p.pid == 0 && procfs_proc(pid, &p, err) <= 0)
            break;
        target[strlen(target) - 1] = '\0';
        json_object_set_new(owners, target + strlen("socket:["), value_fmt("%d/%s", (int) pid, p.name));
    }
    strv_free(names);
    return rc != 0 ? rc : err->code;
}

/* {inode: "PID/NAME"}. NEW, or NULL with *err. */
json_t *
sock_owners(fail_t *err)
{
    json_auto_t *owners = json_object();
    size_t n = 0;
    AUTO_FREE pid_t *pids = procfs_pids(&n, err);
    int rc = pids != NULL ? 0 : -EIO;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add_owned(owners, pids[i], err);
    return rc == 0 ? json_incref(owners) : NULL;
}
