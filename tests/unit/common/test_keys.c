/* test_keys.c - key pairs, PEM files, Z85, fingerprints. The vectors were made by openssl, hashlib and real
 * Salt. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zmq.h>

#include "common/base/fs.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/crypto/pem.h"
#include "salt/limits.h"
#include "unit/unit.h"

typedef struct vector {
    const char *pem, *pub;
    const char *secret_hex, *public_hex;
    const char *finger;
} vector_t;

/* openssl genpkey -algorithm x25519; openssl pkey -pubout; -text -noout; Python's hashlib over the body */
static const vector_t vectors[] = {
    { "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VuBCIEIGCBTD35DsUgwLaA8VGf6onwUR+JZ5VgTthZuJqwp1tQ\n"
      "-----END PRIVATE KEY-----\n",
      "-----BEGIN PUBLIC KEY-----\n"
      "MCowBQYDK2VuAyEA8QFG/d5bk3hXC/P1klMrm6e24Wna/eWGepjQWg5C4gw=\n"
      "-----END PUBLIC KEY-----\n",
      "60814c3df90ec520c0b680f1519fea89f0511f896795604ed859b89ab0a75b50",
      "f10146fdde5b9378570bf3f592532b9ba7b6e169dafde5867a98d05a0e42e20c",
      "f8:c3:29:4f:7c:45:d2:a3:0a:53:61:49:9d:d6:83:79:f9:ca:82:f3:1b:d6:c4:c3:ed:ba:6c:cf:15:da:2c:cb" },
    { "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VuBCIEICDRiSTE6Gg0rQVW852C6vjmNIHl8SnZhG16S+gl3g1k\n"
      "-----END PRIVATE KEY-----\n",
      "-----BEGIN PUBLIC KEY-----\n"
      "MCowBQYDK2VuAyEAT0mNQH4CmMgN2ArKCcaxo6IxhhJSY1ITxGOpfgOqHzQ=\n"
      "-----END PUBLIC KEY-----\n",
      "20d18924c4e86834ad0556f39d82eaf8e63481e5f129d9846d7a4be825de0d64",
      "4f498d407e0298c80dd80aca09c6b1a3a231861252635213c463a97e03aa1f34",
      "f7:30:e8:52:79:9d:41:b0:46:6d:05:95:68:e0:5a:75:bc:b2:ca:40:81:f2:2d:de:01:b6:68:8d:5a:5e:1d:bf" },
};

/* A key and its fingerprint as `salt-key -p` and `salt-key -f` of Salt 3006 print them. */
static const char salt_pem[] = "-----BEGIN PUBLIC KEY-----\n"
                               "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAs/BMz194OCIXUvmNi7l7\n"
                               "1qU3bPkQi9hpAaOXAxY1TppyZvaTiPVX0TYxdTFsbzLQa/3THZeutHGXrZeKpclN\n"
                               "wPt9V02sO4/zYFjkZdJYjl7n+mbcg8ysfpOHloToH8vtVeYamBpvRqH57zMeEBF1\n"
                               "vIRiLzIEmDcDKLsQKdia6VfTjo/TVQ6IiZ1rN43Cfl49r0gg/3YTsYJU88Dag+oQ\n"
                               "1SwWO9SJgrkPspSfCDV3njOYeLtI+BB5xfvLevuND5gWqggrTCKZcYkJThHO89/E\n"
                               "uQsN7QSw5+DK1E6AW3llrz6dmymP7zU3lPrwqKdVA7LOfOuY+00dkdrPoHJOak/H\n"
                               "OwIDAQAB\n"
                               "-----END PUBLIC KEY-----\n";
static const char salt_finger[] =
    "de:8c:f8:6e:d5:02:46:8e:99:dc:5a:63:f3:a2:da:32:b5:2c:93:da:98:7a:f9:de:fe:6e:d9:81:b3:b8:2e:b2";

static char *
temp_dir(void)
{
    char *dir = xstrdup("/tmp/halite-keys-XXXXXX");

    assert_non_null(mkdtemp(dir));
    return dir;
}

static void
drop_dir(char *dir)
{
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
    free(dir);
}

static void
put_file(const char *dir, const char *name, const char *text, mode_t mode)
{
    AUTO_FREE char *path = fs_join(dir, name);
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(fs_write_quick(path, text, strlen(text), mode, &err), 0);
}

static void
assert_hex(const uint8_t key[KEY_BYTES], const char *hex)
{
    char text[2 * KEY_BYTES + 1];

    for (size_t i = 0; i < KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", key[i]);
    assert_string_equal(text, hex);
}

static void
test_vectors(void **state)
{
    for (size_t i = 0; i < NELEMS(vectors); i++) {
        const vector_t *v = &vectors[i];
        char *dir = temp_dir();
        bool made = true;
        fail_auto_t err = FAIL_INIT;
        char finger[FINGER_LEN];
        uint8_t key[KEY_BYTES];

        put_file(dir, "k.pem", v->pem, 0400);
        put_file(dir, "k.pub", v->pub, 0644);
        AUTO(key_pair) pair = key_pair_open(dir, "k", &made, &err);

        assert_non_null(pair);
        assert_false(made);
        assert_hex(key_pair_secret(pair), v->secret_hex);
        assert_hex(key_pair_public(pair), v->public_hex);
        AUTO_FREE char *pub = key_public_pem(key_pair_public(pair));
        char *pem = key_pair_pem(pair);

        assert_string_equal(pub, v->pub);
        assert_string_equal(pem, v->pem);
        key_text_free(&pem);
        assert_null(pem);
        assert_int_equal(key_public_from_pem(v->pub, strlen(v->pub), key, &err), 0);
        assert_memory_equal(key, key_pair_public(pair), KEY_BYTES);
        key_finger(key, finger);
        assert_string_equal(finger, v->finger);
        drop_dir(dir);
    }
}

static void
test_finger_salt(void **state)
{
    char finger[FINGER_LEN], again[FINGER_LEN], typed[FINGER_MAX];
    AUTO_FREE char *crlf = str_replace(salt_pem, "\n", "\r\n");
    AUTO_FREE char *spaced = xasprintf("\n  \n%s\n\n", salt_pem);
    fail_auto_t err = FAIL_INIT;

    key_finger_pem(salt_pem, strlen(salt_pem), finger);
    assert_string_equal(finger, salt_finger);
    key_finger_pem(crlf, strlen(crlf), again);
    assert_string_equal(again, salt_finger);
    key_finger_pem(spaced, strlen(spaced), again);
    assert_string_equal(again, salt_finger);
    assert_int_equal(key_finger_typed("md5", vectors[0].pub, strlen(vectors[0].pub), typed, &err), 0);
    assert_string_equal(typed, "69:cc:3f:de:5e:1e:89:46:c2:d2:b8:57:b5:36:ae:ab");
    assert_int_equal(key_finger_typed("sha512", vectors[0].pub, strlen(vectors[0].pub), typed, &err), 0);
    assert_string_equal(
        typed, "33:24:98:9b:37:fc:74:63:30:0a:24:96:c1:2a:34:44:4d:4c:8a:2f:44:68:16:99:80:b4:2b:73:07:6f:3c:"
               "f3:eb:bd:23:8b:e8:fd:91:d0:ba:92:4e:f0:79:1c:f7:d0:f9:d5:c2:a3:9c:29:ce:f5:6d:0a:f0:57:e3:5c:"
               "70:98");
    assert_true(key_finger_typed("crc7", "x", 1, typed, &err) < 0);
    assert_non_null(err.text);
}

/* Python: hashlib.sha256(b"").hexdigest() for whatever has no body. */
static void
test_finger_odd(void **state)
{
    static const char *const odd[] = { "", "\n", "one line", "one\ntwo", "one\n\n\ntwo\n" };
    char finger[FINGER_LEN], file[FINGER_MAX];

    for (size_t i = 0; i < NELEMS(odd); i++) {
        key_finger_pem(odd[i], strlen(odd[i]), finger);
        assert_string_equal(
            finger, "e3:b0:c4:42:98:fc:1c:14:9a:fb:f4:c8:99:6f:b9:24:27:ae:41:e4:64:9b:93:4c:a4:95:99:"
                    "1b:78:52:b8:55");
    }
    assert_int_equal(key_finger_file("sha256", "/nonexistent/key.pub", file, NULL), 0);
    assert_string_equal(file, "");
}

static void
test_z85(void **state)
{
    /* RFC 32's and libzmq's own test key */
    static const char z85[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
    static const char hex[] = "bb88471d65e2659b30c55a5321cebb5aab2b70a398645c26dca2b2fcb43fc518";
    uint8_t key[KEY_BYTES], back[KEY_BYTES];
    char ours[KEY_Z85_LEN], theirs[KEY_Z85_LEN];

    assert_true(key_from_z85(z85, key));
    assert_hex(key, hex);
    for (int i = 0; i < 200; i++) {
        key_to_z85(key, ours);
        assert_non_null(zmq_z85_encode(theirs, key, KEY_BYTES));
        assert_string_equal(ours, theirs);
        assert_true(key_from_z85(ours, back));
        assert_memory_equal(key, back, KEY_BYTES);
        key_random(key, sizeof(key));
    }
    memset(key, 0xff, sizeof(key));
    key_to_z85(key, ours);
    assert_string_equal(ours, "%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0");
}

static void
test_z85_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "short",
        "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hI",
        "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hIDx",
        "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{h D",
        "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{h\"D",
        "%nSc1%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0",
        "#####################################ABC",
    };
    uint8_t key[KEY_BYTES] = { 7 };

    for (size_t i = 0; i < NELEMS(bad); i++)
        assert_false(key_from_z85(bad[i], key));
    assert_int_equal(key[0], 7);
}

/* libzmq derives the same public key from the secret. */
static void
test_pair_is_curve(void **state)
{
    char secret[KEY_Z85_LEN], public_key[KEY_Z85_LEN], derived[KEY_Z85_LEN];
    AUTO(key_pair) pair = key_pair_new();

    key_to_z85(key_pair_secret(pair), secret);
    key_to_z85(key_pair_public(pair), public_key);
    assert_int_equal(zmq_curve_public(derived, secret), 0);
    assert_true(key_text_equal(derived, public_key));
    assert_false(key_text_equal(derived, secret));
    assert_false(key_text_equal(derived, ""));
}

static void
test_open_makes(void **state)
{
    char *dir = temp_dir();
    AUTO_FREE char *pki = xasprintf("%s/etc/pki", dir);
    AUTO_FREE char *pem = xasprintf("%s/etc/pki/minion.pem", dir);
    AUTO_FREE char *pub = xasprintf("%s/etc/pki/minion.pub", dir);
    fail_auto_t err = FAIL_INIT;
    struct stat st;
    bool made = false;
    AUTO(key_pair) first = key_pair_open(pki, "minion", &made, &err);

    assert_non_null(first);
    assert_true(made);
    assert_int_equal(stat(pki, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(pem, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0400);
    assert_int_equal(stat(pub, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_int_equal(key_pair_save(first, pki, "minion", &err), -EEXIST);
    fail_clear(&err);

    assert_int_equal(unlink(pub), 0); /* comes back */
    AUTO(key_pair) second = key_pair_open(pki, "minion", &made, &err);
    assert_non_null(second);
    assert_false(made);
    assert_memory_equal(key_pair_secret(first), key_pair_secret(second), KEY_BYTES);
    assert_true(fs_exists(pub));
    drop_dir(dir);
}

static void
test_open_refuses_mode(void **state)
{
    static const mode_t modes[] = { 0440, 0404, 0420, 0644, 0666, 0600 | 0010 };
    char *dir = temp_dir();
    AUTO_FREE char *pem = fs_join(dir, "k.pem");

    put_file(dir, "k.pem", vectors[0].pem, 0600);
    for (size_t i = 0; i < NELEMS(modes); i++) {
        fail_auto_t err = FAIL_INIT;

        assert_int_equal(chmod(pem, modes[i]), 0);
        assert_null(key_pair_open(dir, "k", NULL, &err));
        assert_int_equal(err.code, -EPERM);
        assert_non_null(strstr(err.text, pem));
        assert_non_null(strstr(err.text, "chmod"));
    }
    assert_int_equal(chmod(pem, 0600), 0);
    AUTO(key_pair) pair = key_pair_open(dir, "k", NULL, NULL);
    assert_non_null(pair);
    drop_dir(dir);
}

static void
test_open_refuses_content(void **state)
{
    static const struct {
        const char *pem, *pub, *says;
    } bad[] = {
        { "", NULL, "empty" },
        { "garbage\n", NULL, "BEGIN PRIVATE KEY" },
        { salt_pem, NULL, "BEGIN PRIVATE KEY" },
        { NULL, "garbage", "BEGIN PUBLIC KEY" },
        { NULL, salt_pem, "RSA" },
        { NULL, "SECOND", "not the public key" },
        { "NONE", "SECOND", "private key" },
    };

    for (size_t i = 0; i < NELEMS(bad); i++) {
        char *dir = temp_dir();
        const char *pem = bad[i].pem == NULL ? vectors[0].pem : bad[i].pem;
        const char *pub = str_eq(bad[i].pub, "SECOND") ? vectors[1].pub : bad[i].pub;
        fail_auto_t err = FAIL_INIT;

        if (!str_eq(pem, "NONE"))
            put_file(dir, "k.pem", pem, 0400);
        if (pub != NULL)
            put_file(dir, "k.pub", pub, 0644);
        assert_null(key_pair_open(dir, "k", NULL, &err));
        assert_non_null(strstr(err.text, bad[i].says));
        assert_non_null(strstr(err.text, dir));
        assert_null(strstr(err.text, "MC4CAQ"));
        drop_dir(dir);
    }
}

/* A fifo where the key should be must not hang the start. */
static void
test_open_refuses_fifo(void **state)
{
    char *dir = temp_dir();
    AUTO_FREE char *pem = fs_join(dir, "k.pem");
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(mkfifo(pem, 0400), 0);
    assert_null(key_pair_open(dir, "k", NULL, &err));
    assert_non_null(strstr(err.text, "regular"));
    drop_dir(dir);
}

/* Whoever starts at the same time ends up with one and the same key. */
static void
test_open_race(void **state)
{
    enum { N = 8 };
    char *dir = temp_dir();
    int line[2], go[2];
    uint8_t keys[N][KEY_BYTES];

    assert_int_equal(pipe(line), 0);
    assert_int_equal(pipe(go), 0);
    for (int i = 0; i < N; i++) {
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0) {
            char c;

            close(go[1]);
            (void) !read(go[0], &c, 1);
            AUTO(key_pair) pair = key_pair_open(dir, "k", NULL, NULL);
            _exit(pair == NULL || write(line[1], key_pair_public(pair), KEY_BYTES) != KEY_BYTES);
        }
    }
    close(go[1]);
    for (int i = 0; i < N; i++) {
        int status = -1;

        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
        assert_int_equal(read(line[0], keys[i], KEY_BYTES), KEY_BYTES);
        assert_memory_equal(keys[0], keys[i], KEY_BYTES);
    }
    close(go[0]), close(line[0]), close(line[1]);
    drop_dir(dir);
}

/* ---- the parser --------------------------------------------------------------------------------- */

static bool
reads(pem_kind_t kind, const char *text, size_t len)
{
    AUTO_FREE char *exact = xcalloc(1, len + 1); /* sanitizers see a read past the end */
    uint8_t key[KEY_BYTES];
    fail_auto_t err = FAIL_INIT;

    memcpy(exact, text, len);
    int rc = pem_read(kind, exact, len, key, &err);
    assert_int_equal(rc == 0, err.text == NULL);
    return rc == 0;
}

static void
test_pem_shapes(void **state)
{
    const char *pub = vectors[0].pub;
    AUTO_FREE char *crlf = str_replace(pub, "\n", "\r\n");
    AUTO_FREE char *blank = xasprintf(" \n%s\n \t\n", pub);
    AUTO_FREE char *folded = str_replace(pub, "8QFG", "8Q\nFG");
    AUTO_FREE char *spaced = str_replace(pub, "8QFG", "8Q FG");
    AUTO_FREE char *twice = xasprintf("%s%s", pub, pub);
    AUTO_FREE char *tail = xasprintf("%sx", pub);
    AUTO_FREE char *front = xasprintf("x%s", pub);
    AUTO_FREE char *nopad = str_replace(pub, "=", "");
    AUTO_FREE char *morepad = str_replace(pub, "=", "==");
    AUTO_FREE char *joined = str_replace(pub, "KEY-----\nMC", "KEY-----MC");

    assert_true(reads(PEM_PUBLIC, pub, strlen(pub)));
    assert_true(reads(PEM_PUBLIC, crlf, strlen(crlf)));
    assert_true(reads(PEM_PUBLIC, blank, strlen(blank)));
    assert_true(reads(PEM_PUBLIC, pub, strlen(pub) - 1)); /* without the last newline */
    assert_true(reads(PEM_PUBLIC, folded, strlen(folded)));
    assert_false(reads(PEM_PUBLIC, spaced, strlen(spaced)));
    assert_false(reads(PEM_PUBLIC, twice, strlen(twice)));
    assert_false(reads(PEM_PUBLIC, tail, strlen(tail)));
    assert_false(reads(PEM_PUBLIC, front, strlen(front)));
    assert_false(reads(PEM_PUBLIC, nopad, strlen(nopad)));
    assert_false(reads(PEM_PUBLIC, morepad, strlen(morepad)));
    assert_false(reads(PEM_PUBLIC, joined, strlen(joined)));
    assert_false(reads(PEM_PRIVATE, pub, strlen(pub)));
    assert_false(reads(PEM_PUBLIC, vectors[0].pem, strlen(vectors[0].pem)));
    assert_false(reads(PEM_PUBLIC, salt_pem, strlen(salt_pem)));
}

/* Every shorter text, and every text with one byte changed, is refused or (white space, the key itself) read.
 */
static void
test_pem_damage(void **state)
{
    static const pem_kind_t kinds[] = { PEM_PUBLIC, PEM_PRIVATE };
    static const char junk[] = { '\0', '\n', '-', 'A', '=', '\x80' };

    for (size_t k = 0; k < NELEMS(kinds); k++) {
        const char *text = kinds[k] == PEM_PUBLIC ? vectors[0].pub : vectors[0].pem;
        size_t len = strlen(text);
        AUTO_FREE char *copy = xstrdup(text);

        for (size_t n = 0; n + 1 < len; n++)
            assert_false(reads(kinds[k], text, n));
        for (size_t i = 0; i < len * NELEMS(junk); i++) {
            copy[i / NELEMS(junk)] = junk[i % NELEMS(junk)];
            (void) reads(kinds[k], copy, len);
            copy[i / NELEMS(junk)] = text[i / NELEMS(junk)];
        }
    }
}

/* An Ed25519 key differs from X25519 in one byte only. */
static void
test_pem_other_keys(void **state)
{
    static const char ed_pub[] = "-----BEGIN PUBLIC KEY-----\n"
                                 "MCowBQYDK2VwAyEA31dZJiOf0YGfUT407HkSgrny37zJEjy+zT3rYkHAtAM=\n"
                                 "-----END PUBLIC KEY-----\n";
    static const char ed_pem[] = "-----BEGIN PRIVATE KEY-----\n"
                                 "MC4CAQAwBQYDK2VwBCIEIK6mV5+7PZQSvwrlrAphYv4ZiYrYSvGMdro2eM8QdcmY\n"
                                 "-----END PRIVATE KEY-----\n";
    AUTO_FREE char *big = xcalloc(1, LIMIT_KEY_FILE + 2);

    assert_false(reads(PEM_PUBLIC, ed_pub, strlen(ed_pub)));
    assert_false(reads(PEM_PRIVATE, ed_pem, strlen(ed_pem)));
    memset(big, ' ', LIMIT_KEY_FILE + 1);
    memcpy(big, vectors[0].pub, strlen(vectors[0].pub));
    assert_true(reads(PEM_PUBLIC, big, LIMIT_KEY_FILE));
    assert_false(reads(PEM_PUBLIC, big, LIMIT_KEY_FILE + 1));
}

static void
test_openssl_reads(void **state)
{
    char *dir = temp_dir();
    AUTO_FREE char *pem = fs_join(dir, "k.pem");
    AUTO_FREE char *pub = fs_join(dir, "k.pub");
    AUTO_FREE char *openssl = fs_which("openssl");
    AUTO(key_pair) pair = key_pair_open(dir, "k", NULL, NULL);
    buf_auto_t derived = BUF_INIT, text = BUF_INIT;

    assert_non_null(pair);
    if (openssl == NULL) {
        print_message("# SKIP: openssl is not installed\n");
        drop_dir(dir);
        skip();
    }
    assert_int_equal(proc_output(&derived, 10000, openssl, "pkey", "-in", pem, "-pubout", NULL), 0);
    AUTO_FREE char *ours = key_public_pem(key_pair_public(pair));
    assert_string_equal(buf_str(&derived), ours);
    assert_int_equal(
        proc_output(&text, 10000, openssl, "pkey", "-pubin", "-in", pub, "-text", "-noout", NULL), 0);
    assert_non_null(strstr(buf_str(&text), "X25519"));
    drop_dir(dir);
}

static void
test_hash(void **state)
{
    char hex[KEY_HEX_MAX];

    assert_int_equal(key_hash_hex("sha256", "abc", 3, hex), 0);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(key_hash_hex("sha512", "abc", 3, hex), 0);
    assert_int_equal(strlen(hex), 128);
    assert_int_equal(key_hash_hex("md5", "abc", 3, hex), -ENOTSUP);
}

/* ---- what is left behind ------------------------------------------------------------------------ */

enum { MASK = 91 };

/* Where the bytes, each MASK more in `masked`, lie in memory that can be written: how often. */
static size_t
count_in_memory(const uint8_t masked[KEY_BYTES])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    size_t n = 0;

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        uintptr_t from, to;
        char rights[5];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, rights) != 3 ||
            strncmp(rights, "rw", 2) != 0)
            continue;
        for (const uint8_t *p = (const uint8_t *) from; p + KEY_BYTES <= (const uint8_t *) to; p++) {
            size_t i = 0;
            while (i < KEY_BYTES && (uint8_t) (p[i] + MASK) == masked[i])
                i++;
            n += i == KEY_BYTES;
        }
    }
    fclose(maps);
    return n;
}

/* A key that was read, used for all that there is and dropped is nowhere in memory. */
static void
test_wiped(void **state)
{
    SKIP_CHECKED(); /* all of memory is read */
    AUTO_FREE char *dir = temp_dir();
    uint8_t masked[KEY_BYTES];
    int pipe_fds[2], status;

    assert_int_equal(pipe(pipe_fds), 0);
    pid_t pid =
        fork(); /* who makes it is another process, so that what is looked for is only what reading leaves */
    if (pid == 0) {
        AUTO(key_pair) made = key_pair_open(dir, "own", NULL, NULL);
        for (size_t i = 0; i < KEY_BYTES; i++)
            masked[i] = (uint8_t) (key_pair_secret(made)[i] + MASK);
        _exit(write(pipe_fds[1], masked, KEY_BYTES) == KEY_BYTES ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(pipe_fds[0], masked, KEY_BYTES), KEY_BYTES);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    assert_int_equal(count_in_memory(masked), 0);
    key_pair_t *pair = key_pair_open(dir, "own", NULL, NULL);
    assert_non_null(pair);
    assert_int_equal(count_in_memory(masked), 1);
    char *text = key_pair_pem(pair);
    key_text_free(&text);
    key_pair_destroy(&pair);
    assert_int_equal(count_in_memory(masked), 0);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_vectors), cmocka_unit_test(test_finger_salt),
          cmocka_unit_test(test_finger_odd), cmocka_unit_test(test_z85), cmocka_unit_test(test_z85_refused),
          cmocka_unit_test(test_pair_is_curve), cmocka_unit_test(test_open_makes),
          cmocka_unit_test(test_open_refuses_mode), cmocka_unit_test(test_open_refuses_content),
          cmocka_unit_test(test_open_refuses_fifo), cmocka_unit_test(test_open_race),
          cmocka_unit_test(test_pem_shapes), cmocka_unit_test(test_pem_damage),
          cmocka_unit_test(test_pem_other_keys), cmocka_unit_test(test_openssl_reads),
          cmocka_unit_test(test_hash), cmocka_unit_test(test_wiped))
