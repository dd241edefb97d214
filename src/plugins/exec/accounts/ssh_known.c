/* ssh_known.c - execution module `ssh`: hosts whose keys ssh knows (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
 * The work is done in knownhosts.h, by ssh-keygen and ssh-keyscan; this file has the order of the checks
 * and Salt's answers: {"status": "error", "error": reason} for a call that can't be done, which is no
 * failure of the job. */
#include "common/base/fs.h"
#include "plugins/lib/system/knownhosts.h"

/* Reads the arguments into `w`. NEW: what is wrong with the call, as Salt's answer; NULL: nothing, or
 * *err. */
static json_t *
ssh_known_begin(knownhosts_t *w, const json_t *args, fail_t *err)
{
    if (knownhosts_of(w, args, "hostname", err) < 0)
        return NULL;
    if (value_get(args, "hostname") != NULL && *w->host == '\0')
        return json_pack("{s:s, s:s}", "status", "error", "error", "hostname argument required");
    return knownhosts_wrong(w);
}

/* Answers with `value`, TAKES it; NULL is the failure in *err. */
static int
ssh_known_end(json_t *value, json_t **ret_value, const fail_t *err)
{
    *ret_value = value;
    return value != NULL ? 0 : err->code;
}

/* The file's keys for a host, hashed names too, as ssh-keygen finds both. */
static int
ssh_get_known_host_entries(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    knownhosts_auto_t w = { 0 };
    json_t *wrong = ssh_known_begin(&w, args, err);

    if (wrong == NULL && err->code == 0)
        wrong = knownhosts_entries(ctx, &w, err);
    return ssh_known_end(wrong, ret_value, err);
}

/* The keys that the host itself shows over the network; nothing vouches for them but a fingerprint that the
 * caller compares. */
static int
ssh_recv_known_host_entries(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    knownhosts_auto_t w = { 0 };
    int rc = knownhosts_of(&w, args, "hostname", err);

    return rc == 0 ? ssh_known_end(knownhosts_scan(ctx, &w, err), ret_value, err) : rc;
}

/* "exists", "add" or "update", by the key or fingerprint of the call. */
static int
ssh_check_known_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    knownhosts_auto_t w = { 0 };
    json_t *wrong = ssh_known_begin(&w, args, err);

    if (wrong == NULL && err->code == 0) {
        json_auto_t *entries = knownhosts_entries(ctx, &w, err);
        wrong = entries != NULL ? json_string(knownhosts_check(&w, entries)) : NULL;
    }
    return ssh_known_end(wrong, ret_value, err);
}

/* Hashes the names of the file, or removes the host's lines: the row says which. Without the file Salt's
 * answer is an error of its own. */
static int
ssh_known_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool hash = ctx_row(ctx)->data.number != 0;
    knownhosts_auto_t w = { 0 };
    json_t *wrong = ssh_known_begin(&w, args, err), *said = NULL;

    if (wrong != NULL || err->code != 0)
        return ssh_known_end(wrong, ret_value, err);
    int there = fs_look_file(w.path, err);
    if (there == 0)
        *ret_value = json_pack("{s:s, s:o}", "status", "error", "error",
                               value_fmt("Known hosts file %s does not exist", w.path));
    if (there <= 0)
        return there;
    int rc = knownhosts_rewrite(ctx, &w, hash, &said, err);
    if (rc == 0)
        *ret_value = json_pack("{s:s, s:o}", "status", hash ? "updated" : "removed", "comment", said);
    return rc;
}

/* Fetches the host's keys when none is given, and adds them when they fit. */
static int
ssh_set_known_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    knownhosts_auto_t w = { 0 };
    json_t *wrong = ssh_known_begin(&w, args, err);

    if (wrong == NULL && err->code == 0)
        wrong = knownhosts_set(ctx, &w, false, err);
    return ssh_known_end(wrong, ret_value, err);
}

/* ---- table ---------------------------------------------------------------------------------- */

#define USER_ROW ARG("user", ARG_STR, "null", "Whose file; None: the machine's")
#define HOST_ROW ARG("hostname", ARG_STR, "null", "The host")
#define CONFIG_ROW                                                                                           \
    ARG("config", ARG_STR, "null", "The file; by default .ssh/known_hosts, or /etc/ssh/ssh_known_hosts")
#define PORT_ROW  ARG("port", ARG_ANY, "null", "The host's port; by default 22")
#define HASH_ROW  ARG("fingerprint_hash_type", ARG_STR, "null", "sha256 unless told")
#define PRINT_ROW ARG("fingerprint", ARG_STR, "null", "The fingerprint that is expected: aa:bb:...")
#define KEY_ROW   ARG("key", ARG_STR, "null", "The key that is expected, in base64")
#define ENC_ROW   ARG("enc", ARG_STR, "null", "Type of the key")
#define SCAN_ROWS                                                                                            \
    ARG("hash_known_hosts", ARG_BOOL, "true", "Hash the hosts' names"),                                      \
        ARG("timeout", ARG_ANY, "5", "Seconds to wait for the host"), HASH_ROW

static const arg_t get_args[] = { ARG("user", ARG_ANY, ARG_REQUIRED, "Whose file; None: the machine's"),
                                  ARG("hostname", ARG_STR, ARG_REQUIRED, "The host"),
                                  CONFIG_ROW,
                                  PORT_ROW,
                                  HASH_ROW,
                                  ARGS_END };
static const arg_t recv_args[] = { ARG("hostname", ARG_STR, ARG_REQUIRED, "The host"), ENC_ROW, PORT_ROW,
                                   SCAN_ROWS, ARGS_END };
static const arg_t check_args[] = { USER_ROW,   HOST_ROW, KEY_ROW,  PRINT_ROW,
                                    CONFIG_ROW, PORT_ROW, HASH_ROW, ARGS_END };
static const arg_t rm_args[] = { USER_ROW, HOST_ROW, CONFIG_ROW, PORT_ROW, ARGS_END };
static const arg_t set_args[] = { USER_ROW, HOST_ROW,   PRINT_ROW, KEY_ROW, PORT_ROW,
                                  ENC_ROW,  CONFIG_ROW, SCAN_ROWS, ARGS_END };
static const arg_t hash_args[] = { USER_ROW, CONFIG_ROW, ARGS_END };

static const func_t funcs[] = {
    { "check_known_host", ssh_check_known_host, check_args, FN_READONLY,
      "Return what it would take for a host to be known: add, update, or exists." CLI_EXAMPLE(
          "salt '*' ssh.check_known_host root github.com key=AAAA...") },
    { "get_known_host_entries", ssh_get_known_host_entries, get_args, FN_READONLY,
      "Return a host's entries of a known_hosts file." CLI_EXAMPLE(
          "salt '*' ssh.get_known_host_entries root github.com") },
    { "hash_known_hosts", ssh_known_change, hash_args, 0,
      "Hash all names of a known_hosts file." CLI_EXAMPLE("salt '*' ssh.hash_known_hosts root"),
      .data.number = 1 },
    { "recv_known_host_entries", ssh_recv_known_host_entries, recv_args, FN_READONLY,
      "Return the keys that a host itself shows." CLI_EXAMPLE(
          "salt '*' ssh.recv_known_host_entries github.com enc=ed25519") },
    { "rm_known_host", ssh_known_change, rm_args, 0,
      "Remove a host from a known_hosts file." CLI_EXAMPLE("salt '*' ssh.rm_known_host root github.com") },
    { "set_known_host", ssh_set_known_host, set_args, 0,
      "Write a host's keys, given or asked of it, into a known_hosts file." CLI_EXAMPLE(
          "salt '*' ssh.set_known_host root github.com fingerprint=aa:bb:...") },
};

PLUGIN(exec, ssh_known, .provides = "ssh", .doc = "Hosts that ssh knows", FUNCS(funcs));
