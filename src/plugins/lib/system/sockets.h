/* sockets.h - the TCP and UDP sockets of this host as /proc/net lists them.
 *
 * Layer      plugins/lib/system
 * Threads    any
 * Errors     a line that can't be read is left out
 * Tests      tests/unit/plugins/test_sockets.c
 */
#ifndef PLUGINS_LIB_SYSTEM_SOCKETS_H
#define PLUGINS_LIB_SYSTEM_SOCKETS_H

#include <netinet/in.h>

#include "salt/base.h"

enum { SOCKET_ESTABLISHED = 1 };

typedef struct sock_row {
    char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];
    unsigned local_port, remote_port, state, send_q, recv_q, uid;
    unsigned long inode;
} sock_row_t;

/* Parses one line of /proc/net/tcp, tcp6, udp or udp6; false for any other line. */
bool sock_parse(const char *line, sock_row_t *out);
/* The rows of "tcp", "tcp6", "udp" or "udp6"; *err as procfs_lines. NEW array; free() it. */
sock_row_t *sock_rows(const char *proto, size_t *ret_n, fail_t *err);
/* "ESTABLISHED", ...; "" for a number that is none. */
const char *sock_state(unsigned state);
/* Sockets by inode: {"12345": "4711/nginx"}; those of processes of which this one may know. NEW, or NULL
 * with *err. */
json_t *sock_owners(fail_t *err);

#endif
