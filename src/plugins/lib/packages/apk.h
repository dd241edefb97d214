/* apk.h - the functions of `pkg` on Alpine, by apk.
 *
 * Layer      plugins/lib/packages
 * Threads    one at a time
 * Errors     Salt's texts
 * Tests      tests/cases/exec/pkg.*.json
 */
#ifndef PLUGINS_LIB_PACKAGES_APK_H
#define PLUGINS_LIB_PACKAGES_APK_H

#include "plugins/lib/packages/pkg_api.h"

func_fn apk_latest_version, apk_upgrade_available, apk_list_upgrades, apk_version, apk_list_pkgs,
    apk_refresh_db, apk_install, apk_upgrade, apk_uninstall, apk_file_dict, apk_owner, apk_version_cmp;

#endif
