/* test_disk.c - what the disk functions read out of programs' output; answers recorded from Salt's own
 * module. */
#include "unit/unit.h"

#include "plugins/exec/storage/disk.c"

static json_t *
parse_df(const char *text, row_fn *row)
{
    char **lines = str_split(text, "\n", true);
    json_t *out = json_object();
    AUTO(rx) rx = rx_new(DF_LINE, 0, NULL);

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (!str_starts(lines[i], "Filesystem"))
            df_line(rx, lines[i], row, out);
    }
    strv_free(lines);
    return out;
}

static json_t *
parse_usage(const char *text, json_t *args)
{
    return parse_df(text, usage_row);
}

static json_t *
parse_inodes(const char *text, json_t *args)
{
    return parse_df(text, inode_row);
}

static json_t *
parse_blkid(const char *text, json_t *args)
{
    json_t *out = json_object();
    char **lines = str_split(text, "\n", true);

    for (size_t i = 0; lines[i] != NULL; i++)
        blkid_line(lines[i], out);
    strv_free(lines);
    return out;
}

static json_t *
parse_hdparm(const char *text, json_t *args)
{
    json_t *data = json_object();
    char **lines = str_split(text, "\n", true);

    for (size_t i = 1; lines[i] != NULL; i++)
        hdparm_line(str_trim(lines[i]), data);
    strv_free(lines);
    return json_pack("{s:o}", "/dev/sda", data);
}

static json_t *
parse_smart(const char *text, json_t *args)
{
    json_t *out = json_object();
    char **lines = str_split(text, "\n", false);

    smart_table(lines, args, out);
    strv_free(lines);
    return out;
}

static json_t *
parse_iostat(const char *text, json_t *args)
{
    json_t *out = json_object();
    char **lines = str_split(text, "\n", false);

    iostat_table(lines, out);
    strv_free(lines);
    return out;
}

static const struct {
    const char *kind;
    json_t *(*parse)(const char *text, json_t *args);
} parsers[] = {
    { "usage", parse_usage },   { "inodeusage", parse_inodes }, { "blkid", parse_blkid },
    { "hdparm", parse_hdparm }, { "smart", parse_smart },       { "iostat", parse_iostat },
};

static void
test_recorded(void **state)
{
    json_auto_t *rows = json_load_file(TEST_SOURCE_DIR "/tests/cases/disk/parsed.json", 0, NULL);
    json_t *row;
    size_t i;

    assert_true(json_array_size(rows) > 0);
    json_array_foreach (rows, i, row) {
        const char *kind = value_str(row, "kind", "");
        json_auto_t *got = NULL;
        for (size_t k = 0; k < NELEMS(parsers); k++) {
            if (str_eq(parsers[k].kind, kind))
                got = parsers[k].parse(value_str(row, "text", ""), value_get(row, "args"));
        }
        if (!value_equal(got, value_get(row, "expected"))) {
            AUTO_FREE char *text = value_dump(got);
            fail_msg("%s: %s", kind, text);
        }
    }
}

static void
test_hidden_area(void **state)
{
    json_auto_t *part = json_string("25%"), *number = json_integer(100), *all = json_integer(2000);

    assert_int_equal(visible_for(part, 1000), 750);
    assert_int_equal(visible_for(number, 1000), 900);
    assert_int_equal(visible_for(all, 1000), 1000);
}

UNIT_MAIN(cmocka_unit_test(test_recorded), cmocka_unit_test(test_hidden_area))
