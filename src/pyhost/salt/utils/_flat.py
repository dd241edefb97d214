"""Where the names that salt.utils had before 2018 are now: {old name: (module, name)}."""

_SAME = {
    "args": "arg_lookup argspec_report clean_kwargs format_call invalid_kwargs shlex_split split_input test_mode",
    "color": "get_color_theme get_colors",
    "data": "CaseInsensitiveDict DEFAULT_TARGET_DELIM compare_dicts compare_lists decode_dict decode_list exactly_n exactly_one "
    "filter_by is_dictlist is_iter is_list is_true mysql_to_dict repack_dictlist simple_types_filter subdict_match substr_in_list "
    "traverse_dict traverse_dict_and_list",
    "dateutils": "date_cast total_seconds",
    "decorators": "memoize",
    "files": "backup_minion copyfile flopen fopen fpopen human_size_to_bytes is_empty is_fcntl_available list_files mkstemp "
    "normalize_mode recursive_copy rm_rf safe_filename_leaf safe_filepath safe_rm safe_walk st_mode_to_octal",
    "functools": "alias_function namespaced_function parse_function",
    "hashutils": "get_hash",
    "itertools": "fnmatch_multiple",
    "jid": "format_jid_instance format_jid_instance_ext format_job_instance gen_jid is_jid jid_dir jid_to_time",
    "json": "find_json import_json",
    "network": "dns_check gen_mac ip_bracket mac_str_to_bytes refresh_dns",
    "odict": "OrderedDict",
    "path": "check_or_die which which_bin",
    "platform": "is_aix is_darwin is_freebsd is_linux is_netbsd is_openbsd is_proxy is_smartos is_smartos_globalzone "
    "is_smartos_zone is_sunos is_windows",
    "process": "appendproctitle daemonize daemonize_if",
    "stringutils": "build_whitespace_split_regex check_include_exclude check_whitelist_blacklist contains_whitespace dequote "
    "expr_match get_context is_hex is_quoted print_cli to_bytes to_str to_unicode",
    "user": "chugid chugid_and_umask get_default_group get_gid get_gid_list get_group_dict get_group_list get_specific_user get_uid "
    "get_user",
    "versions": "kwargs_warn_until version_cmp warn_until",
}
_RENAMED = {
    "compare_versions": ("versions", "compare"),
    "check_state_result": ("state", "check_result"),
    "check_onfail_requisites": ("state", "check_onfail_requisites"),
    "search_onfail_requisites": ("state", "search_onfail_requisites"),
    "gen_state_tag": ("state", "gen_tag"),
    "date_format": ("dateutils", "strftime"),
    "human_to_bytes": ("stringutils", "human_to_bytes"),
    "is_bin_file": ("files", "is_binary"),
    "is_bin_str": ("stringutils", "is_binary"),
    "istextfile": ("files", "is_text"),
    "option": ("_old", "option"),
    "path_join": ("path", "join"),
    "pem_finger": ("crypt", "pem_finger"),
    "rand_str": ("hashutils", "random_hash"),
    "rand_string": ("stringutils", "random"),
    "sanitize_win_path_string": ("path", "sanitize_win_path"),
    "str_to_num": ("stringutils", "to_num"),
    "to_num": ("stringutils", "to_num"),
    "trim_dict": ("_old", "trim_dict"),
    "yaml_dquote": ("yamlencoding", "yaml_dquote"),
    "yaml_squote": ("yamlencoding", "yaml_squote"),
    "yaml_encode": ("yamlencoding", "yaml_encode"),
}
OLD_NAMES = {name: (f"salt.utils.{file}", name) for file, names in _SAME.items() for name in names.split()}
OLD_NAMES.update((old, (f"salt.utils.{file}", name)) for old, (file, name) in _RENAMED.items())
