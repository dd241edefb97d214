/* network_hosts.c - more of execution module `network`: names of hosts, this one's too, and whether and how
 * other hosts can be reached. ping, dig and traceroute are the host's programs; names of hosts are cleaned
 * before they become arguments. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "plugins/lib/file/partfile.h"
#include "plugins/lib/system/netlist.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* Names and addresses hold nothing else, so what is left is safe as a program's argument. NEW. What falls out
 * leaves no trace: "a;b" asks for "ab", as Salt's function of this name does. */
static char *
sanitize_host(const char *host)
{
    buf_t out = BUF_INIT;

    for (size_t i = 0; i < 255 && host[i] != '\0'; i++) {
        if (isalnum((unsigned char) host[i]) || strchr(".-_", host[i]) != NULL)
            buf_putc(&out, host[i]);
    }
    return buf_steal(&out);
}

/* ---- this host's name ------------------------------------------------------------------------ */

static int
network_get_hostname(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char name[256] = "";

    (void) gethostname(name, sizeof(name) - 1);
    *ret_value = json_string(name);
    return 0;
}

/* The first of a host's names that has a dot, else its proper name. NEW. */
static char *
dotted_name(const struct hostent *h)
{
    if (strchr(h->h_name, '.') != NULL)
        return xstrdup(h->h_name);
    for (char **alias = h->h_aliases; *alias != NULL; alias++) {
        if (strchr(*alias, '.') != NULL)
            return xstrdup(*alias);
    }
    return xstrdup(h->h_name);
}

/* Python's getfqdn: our name's address is looked up backwards. The first address alone is asked for, as
 * Python does; a host without a name in any resolver is its bare name. */
static int
network_get_fqdn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char name[256] = "";
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
    const struct hostent *h = NULL;

    (void) gethostname(name, sizeof(name) - 1);
    if (getaddrinfo(name, NULL, &hints, &all) == 0) {
        if (all->ai_family == AF_INET)
            h = gethostbyaddr(&((const struct sockaddr_in *) (const void *) all->ai_addr)->sin_addr, 4,
                              AF_INET);
        else if (all->ai_family == AF_INET6)
            h = gethostbyaddr(&((const struct sockaddr_in6 *) (const void *) all->ai_addr)->sin6_addr, 16,
                              AF_INET6);
        freeaddrinfo(all);
    }
    AUTO_FREE char *found = h != NULL ? dotted_name(h) : xstrdup(name);
    *ret_value = json_string(found);
    return 0;
}

/* A copy of a hosts file's text with the word `old` replaced by `new`; comments stay. Only whole words count,
 * so that renaming "web" leaves "web.example.com"; blanks between words stay, where Salt puts tabs. */
static void
rename_in_hosts(const char *text, const char *old, const char *new, buf_t *out)
{
    bool comment = false;

    while (*text != '\0') {
        size_t n = strcspn(text, " \t\n#");
        if (n == 0) {
            comment = *text == '#' ? true : *text == '\n' ? false : comment;
            buf_putc(out, *text++);
            continue;
        }
        if (!comment && strlen(old) == n && memcmp(text, old, n) == 0)
            buf_puts(out, new);
        else
            buf_add(out, text, n);
        text += n;
    }
}

/* A missing or unchanged file is left alone. A container may have no /etc/hosts at all. */
static int
rewrite_hosts(const char *path, const char *old, const char *new, fail_t *err)
{
    buf_auto_t text = BUF_INIT, fresh = BUF_INIT;

    if (fs_absent(path))
        return 0;
    int rc = fs_read(path, LIMIT_CONF_FILE, &text, err);
    if (rc != 0)
        return rc;
    rename_in_hosts(buf_str(&text), old, new, &fresh);
    if (fresh.len == text.len && memcmp(buf_str(&text), buf_str(&fresh), text.len) == 0)
        return 0;
    return partfile_put(path, buf_str(&fresh), fresh.len, 0644, err);
}

/* By hostnamectl where systemd runs, else in the kernel and in an existing /etc/hostname. Not 0 without *err
 * when hostnamectl refused. */
static int
set_hostname(const char *name, fail_t *err)
{
    AUTO_FREE char *program = fs_which("hostnamectl");
    prog_auto_t prog = PROG_INIT;

    if (program != NULL && fs_exists("/run/systemd/system")) {
        prog_adds(&prog, program, "set-hostname", "--", name, NULL);
        return prog_retcode(&prog, err) == 0 ? 0 : -EIO;
    }
    if (sethostname(name, strlen(name)) != 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "cannot set the host name: %s", strerror(errno));
    if (!fs_exists("/etc/hostname"))
        return 0;
    AUTO_FREE char *line = xasprintf("%s\n", name);
    return partfile_put("/etc/hostname", line, strlen(line), 0644, err);
}

/* Also renames the host in /etc/hosts. An empty name is False, a bad one an error: the kernel takes up to 64
 * bytes, and one that begins with "-" would be an option of hostnamectl. False is also what a refusal of
 * hostnamectl is. */
static int
network_mod_hostname(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "hostname", NULL);
    char old[256] = "";

    if (str_empty(name)) {
        *ret_value = json_false();
        return 0;
    }
    if (strlen(name) > 64 || *name == '-' ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")] != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a valid host name", name);
    /* The old name is asked before it is gone: the hosts file is searched for it. */
    (void) gethostname(old, sizeof(old) - 1);
    fail_auto_t why = FAIL_INIT;
    if (set_hostname(name, &why) != 0) {
        if (why.code != 0)
            return fail_kind(err, FAIL_COMMAND, why.code, "%s", fail_text(&why));
        *ret_value = json_false();
        return 0;
    }
    int rc = rewrite_hosts("/etc/hosts", old, name, err);
    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

/* ---- other hosts ----------------------------------------------------------------------------- */

/* The program's output. *ret_value NEW. An exit code other than 0 is no error: the text tells, as by
 * cmd.run. */
static int
run_text(const prog_t *prog, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *out = prog_stdout(prog, NULL, err);

    if (out == NULL)
        return -EIO;
    *ret_value = value_utf8(out, strlen(out));
    return 0;
}

/* Exit code 0 is an answer, 1 is none, 2 an error such as an unknown host: the last two are both False with
 * return_boolean. */
static int
network_ping(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *host = sanitize_host(value_str(args, "host", ""));
    json_t *timeout = value_get(args, "timeout");
    prog_auto_t prog = PROG_INIT;

    if (tool_need("ping", err) != 0)
        return -ENOENT;
    prog_add(&prog, "ping");
    if (value_truthy(timeout))
        prog_add_option(&prog, "-W", timeout);
    prog_adds(&prog, "-c", "4", "--", host, NULL);
    prog.merge_stderr = true;
    if (!value_bool(args, "return_boolean", false))
        return run_text(&prog, ret_value, err);
    int code = prog_retcode(&prog, err);
    if (code < 0)
        return code;
    *ret_value = json_boolean(code == 0);
    return 0;
}

static int
network_dig(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *host = sanitize_host(value_str(args, "host", ""));
    prog_auto_t prog = PROG_INIT;

    if (tool_need("dig", err) != 0)
        return -ENOENT;
    /* -q takes the next word as a name, whatever it starts with. */
    prog_adds(&prog, "dig", "-q", host, NULL);
    return run_text(&prog, ret_value, err);
}

/* Parses one line of modern traceroute: " 1 name (ip) 0.1 ms 0.2 ms 0.3 ms". A hop that does not answer has
 * only its number and "*". One of which packets are lost has fewer than three times and is an empty row, as
 * by Salt. NEW; empty for any other line. */
static json_t *
trace_row(const char *line)
{
    char name[256], ip[128];
    int count;
    double ms[3];

    if (sscanf(line, " %d %255s (%127[^)]) %lf ms %lf ms %lf ms", &count, name, ip, &ms[0], &ms[1], &ms[2]) ==
        6)
        return json_pack("{s:i, s:s, s:s, s:f, s:f, s:f}", "count", count, "hostname", name, "ip", ip, "ms1",
                         ms[0], "ms2", ms[1], "ms3", ms[2]);
    if (strstr(line, "* * *") != NULL && sscanf(line, " %d", &count) == 1)
        return json_pack("{s:i, s:s}", "count", count, "hostname", "*");
    return json_object();
}

/* The header line and lines without blanks are no hops. A line in a form that trace_row() does not know is an
 * empty row, so that the hops keep their places. */
static int
network_traceroute(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *host = sanitize_host(value_str(args, "host", ""));
    prog_auto_t prog = PROG_INIT;

    if (tool_need("traceroute", err) != 0)
        return -ENOENT;
    prog_adds(&prog, "traceroute", "--", host, NULL);
    AUTO_FREE char *out = prog_stdout(&prog, NULL, err);
    if (out == NULL)
        return -EIO;
    char **lines = str_split(out, "\n", true);
    json_t *rows = json_array();
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (strchr(lines[i], ' ') != NULL && !str_starts(lines[i], "traceroute"))
            json_array_append_new(rows, trace_row(lines[i]));
    }
    strv_free(lines);
    *ret_value = rows;
    return 0;
}

/* Wait until the socket can be written (or read); false after the time or on an error. SO_ERROR has the
 * result of a connection that was made in the background: POLLOUT alone tells only that it is over. */
static bool
network_hosts_ready(int fd, short events, double seconds)
{
    struct pollfd wait = { fd, events, 0 };
    int64_t ms = clock_us_of(seconds) / 1000;
    int failed = 0;
    socklen_t len = sizeof(failed);

    return poll(&wait, 1, ms < INT32_MAX ? (int) ms : INT32_MAX) == 1 &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 && failed == 0;
}

/* TCP by connecting, UDP by sending four bytes and waiting for an answer. The time is for each wait. A
 * refusal of UDP (ICMP unreachable) comes as an error of recv. */
static bool
try_connect(const struct addrinfo *a, double seconds)
{
    AUTO_FD fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);

    if (fd < 0 || (connect(fd, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS))
        return false;
    if (a->ai_socktype == SOCK_STREAM)
        return network_hosts_ready(fd, POLLOUT, seconds);
    /* Without a connection only an answer tells. */
    char answer[256];
    return send(fd, "salt", 4, 0) == 4 && network_hosts_ready(fd, POLLIN, seconds) &&
           recv(fd, answer, sizeof(answer), 0) >= 0;
}

/* Only the first address of the host is tried. Missing arguments and unknown hosts are data. An address is
 * taken as it is, IPv6 with its colons, which the cleaning of names would drop. */
static int
network_connect(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs");
    const char *host = value_str(args, "host", "");
    AUTO_FREE char *port = value_pystr(value_get(args, "port"));
    bool udp = str_eq(value_str(kwargs, "proto", "tcp"), "udp");
    const char *proto = udp ? "udp" : "tcp", *family = value_str(kwargs, "family", "");
    struct addrinfo hints = { .ai_socktype = udp ? SOCK_DGRAM : SOCK_STREAM };
    struct addrinfo *all = NULL;
    char address[INET6_ADDRSTRLEN] = "";
    ip_t ip;

    if (*host == '\0' || !value_truthy(value_get(args, "port"))) {
        *ret_value = json_pack(
            "{s:b, s:o}", "result", 0, "comment",
            value_fmt("Required argument, %s, is missing.", *host == '\0' ? "host" : "port"));
        return 0;
    }
    /* Any other word means both families, as by Salt. */
    hints.ai_family = str_eq(family, "ipv4") ? AF_INET : str_eq(family, "ipv6") ? AF_INET6 : AF_UNSPEC;
    AUTO_FREE char *name = ip_parse(host, &ip, NULL) == 0 ? xstrdup(host) : sanitize_host(host);
    if (getaddrinfo(name, port, &hints, &all) != 0) {
        *ret_value = json_pack("{s:b, s:o}", "result", 0, "comment",
                               value_fmt("Unable to resolve host %s on %s port %s", host, proto, port));
        return 0;
    }
    /* The answer names the address that was tried, so that a wrong resolver shows. */
    bool ok = try_connect(all, value_num(kwargs, "timeout", 5));
    (void) getnameinfo(all->ai_addr, all->ai_addrlen, address, sizeof(address), NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(all);
    *ret_value = json_pack("{s:b, s:o}", "result", ok, "comment",
                           value_fmt("%s to %s (%s) on %s port %s",
                                     ok ? "Successfully connected" : "Unable to connect", host, address,
                                     proto, port));
    return 0;
}

/* Twelve digits, bare or in pairs behind any separator. The same separator must stand five times. */
static bool
network_hosts_parse_mac(const char *text, uint8_t out[6])
{
    size_t len = strlen(text), step = len == 17 ? 3 : 2;

    if (len != 12 && len != 17)
        return false;
    for (size_t i = 0; i < 6; i++) {
        const char *p = text + i * step;
        const char pair[3] = { p[0], p[1], '\0' };
        if (!isxdigit((unsigned char) p[0]) || !isxdigit((unsigned char) p[1]) ||
            (step == 3 && i > 0 && p[-1] != text[2]))
            return false;
        out[i] = (uint8_t) strtoul(pair, NULL, 16);
    }
    return true;
}

/* A magic packet: six bytes 0xff, then the hardware address sixteen times, by UDP to the broadcast address.
 * No one answers, so True means that it was sent. */
static int
network_hosts_network_wol(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    uint8_t packet[17 * 6], mac[6];
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t) value_int(args, "destport", 9)) };
    int on = 1;

    if (!network_hosts_parse_mac(value_str(args, "mac", ""), mac))
        return fail_set(err, -EINVAL, "Invalid MAC address");
    if (inet_pton(AF_INET, value_str(args, "bcast", ""), &to.sin_addr) != 1)
        return fail_set(err, -EINVAL, "'%s' is not an IPv4 address", value_str(args, "bcast", ""));
    memset(packet, 0xff, 6);
    for (size_t i = 1; i <= 16; i++)
        memcpy(packet + i * 6, mac, 6);
    AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)) != 0 ||
        sendto(fd, packet, sizeof(packet), 0, (const struct sockaddr *) &to, sizeof(to)) < 0)
        return fail_set(err, -errno, "[Errno %d] %s", errno, strerror(errno));
    *ret_value = json_true();
    return 0;
}

/* The names of all addresses but loopback's, each once and sorted. A resolver that is slow makes the call
 * slow: addresses are asked one after the other. */
static int
network_fqdns(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    nets_auto_t found = { NULL, 0 };
    json_auto_t *names = json_object();
    const char *key;
    json_t *v;
    size_t n = 0;

    if (nets_collect(&found, NULL, "inet", err) != 0 || nets_collect(&found, NULL, "inet6", err) != 0)
        return -EIO;
    nets_filter(&found, net_not_loopback, NULL);
    for (size_t i = 0; i < found.n; i++) {
        /* Names of an address are resolved by the host; an address without a name adds nothing. */
        const ip_t *ip = &found.v[i].addr;
        struct sockaddr_in v4 = { .sin_family = AF_INET };
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
        char name[NI_MAXHOST];
        memcpy(&v4.sin_addr, ip->b, 4);
        memcpy(&v6.sin6_addr, ip->b, 16);
        const struct sockaddr *addr = ip->version == 4 ? (const void *) &v4 : (const void *) &v6;
        socklen_t len = ip->version == 4 ? sizeof(v4) : sizeof(v6);
        if (getnameinfo(addr, len, name, sizeof(name), NULL, 0, NI_NAMEREQD) == 0)
            json_object_set_new(names, name, json_true());
    }
    const char **sorted = xcalloc(json_object_size(names) + 1, sizeof(*sorted));
    json_object_foreach (names, key, v) {
        sorted[n++] = key;
    }
    qsort(sorted, n, sizeof(*sorted), str_by_text);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(sorted[i]));
    free(sorted);
    *ret_value = json_pack("{s:o}", "fqdns", list);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t hostname_args[] = { ARG("hostname", ARG_ANY, ARG_REQUIRED, "The new name"), ARGS_END };
static const arg_t host_args[] = { ARG("host", ARG_STR, ARG_REQUIRED, "Name or address"), ARGS_END };
static const arg_t ping_args[] = { ARG("host", ARG_STR, ARG_REQUIRED, "Name or address"),
                                   ARG("timeout", ARG_ANY, "false", "Seconds to wait for an answer"),
                                   ARG("return_boolean", ARG_BOOL, "false", "Only say whether it answers"),
                                   ARGS_END };
static const arg_t connect_args[] = { ARG("host", ARG_STR, ARG_REQUIRED, "Name or address"),
                                      ARG("port", ARG_ANY, "null", "Number or name of the port"),
                                      ARG("kwargs", ARG_ANY, ARG_STARSTAR, "proto, timeout, family"),
                                      ARGS_END };
static const arg_t wol_args[] = { ARG("mac", ARG_STR, ARG_REQUIRED, "Hardware address"),
                                  ARG("bcast", ARG_STR, "\"255.255.255.255\"", "Broadcast address"),
                                  ARG("destport", ARG_INT, "9", "UDP port"), ARGS_END };

static const func_t funcs[] = {
    { "connect", network_connect, connect_args, FN_READONLY,
      "Say whether a TCP or UDP port of a host answers.\n\nKeywords: ``proto`` (tcp, udp), ``timeout`` in "
      "seconds, ``family`` (ipv4, "
      "ipv6)." CLI_EXAMPLE("salt '*' network.connect archlinux.org 80\n    salt '*' network.connect "
                           "google-public-dns-a.google.com "
                           "port=53 proto=udp timeout=3") },
    { "dig", network_dig, host_args, FN_READONLY,
      "Return what dig tells of a name." CLI_EXAMPLE("salt '*' network.dig archlinux.org") },
    { "fqdns", network_fqdns, NULL, FN_READONLY,
      "Return the names that this host's addresses have." CLI_EXAMPLE("salt '*' network.fqdns") },
    { "get_fqdn", network_get_fqdn, NULL, FN_READONLY,
      "Return this host's name with its domain." CLI_EXAMPLE("salt '*' network.get_fqdn") },
    { "get_hostname", network_get_hostname, NULL, FN_READONLY,
      "Return this host's name." CLI_EXAMPLE("salt '*' network.get_hostname") },
    { "mod_hostname", network_mod_hostname, hostname_args, 0,
      "Change this host's name, now and for the next boot." CLI_EXAMPLE(
          "salt '*' network.mod_hostname master.saltstack.com") },
    { "ping", network_ping, ping_args, FN_READONLY,
      "Send four pings to a host and return what ping prints." CLI_EXAMPLE(
          "salt '*' network.ping archlinux.org\n    salt '*' network.ping archlinux.org timeout=3 "
          "return_boolean=True") },
    { "traceroute", network_traceroute, host_args, FN_READONLY,
      "Return the way to a host, hop by hop." CLI_EXAMPLE("salt '*' network.traceroute archlinux.org") },
    { "wol", network_hosts_network_wol, wol_args, 0,
      "Wake a host by its hardware address." CLI_EXAMPLE("salt '*' network.wol 08-00-27-13-69-77\n    salt "
                                                         "'*' network.wol 080027136977 255.255.255.255 7") },
};

PLUGIN(exec, network_hosts, .provides = "network", .doc = "Names and other hosts", FUNCS(funcs));
