/* pacman.h - the functions of `pkg` on Arch, by pacman.
 *
 * Layer      plugins/lib/packages
 * Threads    one at a time
 * Errors     Salt's texts
 * Tests      tests/cases/exec/pkg.*.json, tests/t/4900-packages.bats
 */
#ifndef PLUGINS_LIB_PACKAGES_PACMAN_H
#define PLUGINS_LIB_PACKAGES_PACMAN_H

#include "plugins/lib/packages/pkg_api.h"

func_fn pacman_latest_version, pacman_upgrade_available, pacman_list_upgrades, pacman_version,
    pacman_list_pkgs, pacman_refresh_db, pacman_install, pacman_upgrade, pacman_uninstall, pacman_file_list,
    pacman_file_dict, pacman_owner, pacman_list_repo_pkgs, pacman_group_list, pacman_group_info,
    pacman_group_diff, pacman_version_cmp;

#endif
