/* virtual.c - grains virtual, virtual_subtype, virtual_hv_* and ps: the machine under this system, if it is
 * not a real one.
 *
 * Salt asks systemd-detect-virt, virt-what, dmidecode and lspci. What they look at (firmware strings, the
 * processor's hypervisor leaf, /proc and /sys) is looked at here directly, in the same order. */
#include <sys/stat.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

#define DMI "/sys/class/dmi/id"

/* A text that gives a machine away, and the grains that follow; NULL leaves a grain as it is. */
typedef struct rule {
    const char *text, *virtual, *subtype;
} rule_t;

/* Sets what is not NULL. */
static void
virtual_set(json_t *out, const char *virtual, const char *subtype)
{
    if (virtual != NULL)
        json_object_set_new(out, "virtual", json_string(virtual));
    if (subtype != NULL)
        json_object_set_new(out, "virtual_subtype", json_string(subtype));
}

/* The first rule whose text is part of the file decides. */
static bool
apply_file(const char *root, json_t *out, const char *path, const rule_t *rules, size_t n)
{
    AUTO_FREE char *text = root_read(root, path);

    for (size_t i = 0; text != NULL && i < n; i++) {
        if (strstr(text, rules[i].text) != NULL) {
            virtual_set(out, rules[i].virtual, rules[i].subtype);
            return true;
        }
    }
    return false;
}

/* ---- hypervisors ----------------------------------------------------------------------------- */

/* Firmware strings by their start, as systemd-detect-virt reads them, with Salt's names. */
static const rule_t firmware[] = {
    { "KVM", "kvm", NULL },
    { "OpenStack", "kvm", NULL },
    { "KubeVirt", "kvm", NULL },
    { "Amazon EC2", "Nitro", "Amazon EC2" },
    { "QEMU", "qemu", NULL },
    { "VMware", "VMware", NULL },
    { "VMW", "VMware", NULL },
    { "innotek GmbH", "oracle", NULL },
    { "VirtualBox", "oracle", NULL },
    { "Oracle Corporation", "oracle", NULL },
    { "Xen", "xen", NULL },
    { "Bochs", "bochs", NULL },
    { "Parallels", "Parallels", NULL },
    { "BHYVE", "bhyve", NULL },
    { "Hyper-V", "VirtualPC", NULL },
    { "Google", "kvm", NULL },
};

/* First rule that one of the DMI strings begins with, in systemd's order of files. */
static const rule_t *
find_firmware(const char *root)
{
    static const char *const files[] = { DMI "/product_name", DMI "/sys_vendor", DMI "/board_vendor",
                                         DMI "/bios_vendor" };

    for (size_t f = 0; f < NELEMS(files); f++) {
        AUTO_FREE char *text = root_read_trimmed(root, files[f]);
        for (size_t i = 0; i < NELEMS(firmware); i++) {
            if (str_starts(text, firmware[i].text))
                return &firmware[i];
        }
    }
    return NULL;
}

/* Some hypervisors offer the interfaces of others to the processor's question; their firmware is to be
 * believed. */
static bool
firmware_decides(const rule_t *rule)
{
    static const char *const sure[] = { "oracle", "xen", "Nitro", "Parallels" };

    for (size_t i = 0; rule != NULL && i < NELEMS(sure); i++) {
        if (str_eq(rule->virtual, sure[i]))
            return true;
    }
    return false;
}

/* Asks the processor for its hypervisor (CPUID); only the host itself can be asked, not another root. */
static const char *
ask_processor(const char *root)
{
#if defined(__x86_64__) || defined(__i386__)
    static const rule_t rules[] = {
        { "XenVMMXenVMM", "xen", NULL },    { "KVMKVMKVM", "kvm", NULL },
        { "Linux KVM Hv", "kvm", NULL },    { "TCGTCGTCGTCG", "qemu", NULL },
        { "VMwareVMware", "VMware", NULL }, { "Microsoft Hv", "VirtualPC", NULL },
        { "bhyve bhyve ", "bhyve", NULL },
    };
    unsigned a, b, c, d;
    char name[13] = "";

    if (!str_empty(root) || !__get_cpuid(1, &a, &b, &c, &d) || (c & 0x80000000U) == 0)
        return NULL;
    __cpuid(0x40000000U, a, b, c, d);
    memcpy(name, &b, 4);
    memcpy(name + 4, &c, 4);
    memcpy(name + 8, &d, 4);
    for (size_t i = 0; i < NELEMS(rules); i++) {
        if (str_eq(rules[i].text, name))
            return rules[i].virtual;
    }
#endif
    return NULL;
}

/* ---- containers ------------------------------------------------------------------------------ */

/* A container's manager, where it says so. An unknown one hides what is under it, as it does from Salt. */
static bool
apply_manager(const char *root, json_t *out)
{
    static const char *const files[] = { "/run/host/container-manager", "/run/systemd/container",
                                         "/proc/1/environ" };
    static const rule_t managers[] = { { "lxc", "container", "LXC" },
                                       { "systemd-nspawn", "systemd-nspawn", NULL },
                                       { "docker", "container", "Docker" },
                                       { "podman", "container", "Podman" } };

    for (size_t i = 0; i < 2; i++) {
        if (apply_file(root, out, files[i], managers, NELEMS(managers)) || root_exists(root, files[i]))
            return true;
    }
    AUTO_FREE char *environment = root_read(root, files[2]);
    const char *manager = environment != NULL ? strstr(environment, "container=") : NULL;
    for (size_t i = 0; manager != NULL && i < NELEMS(managers); i++) {
        if (str_starts(manager + strlen("container="), managers[i].text))
            virtual_set(out, managers[i].virtual, managers[i].subtype);
    }
    return manager != NULL || root_exists(root, "/.dockerenv") || root_exists(root, "/run/.containerenv");
}

/* True when process 1 has another root folder. */
static bool
is_chroot(const char *root)
{
    AUTO_FREE char *own = root_path(root, "/"), *first = root_path(root, "/proc/1/root/.");
    struct stat a, b;

    return stat(own, &a) == 0 && stat(first, &b) == 0 && (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

/* ---- Xen -------------------------------------------------------------------------------------- */

/* Dom0 rules the host; a guest is either wholly virtual or paravirtual. NULL: Xen's folders are there, but
 * nothing of a guest. */
static const char *
xen_subtype(const char *root)
{
    AUTO_FREE char *product = root_read_trimmed(root, DMI "/product_name");
    AUTO_FREE char *capabilities = root_read(root, "/proc/xen/capabilities");

    if (root_exists(root, "/proc/xen/xsd_kva"))
        return "Xen Dom0";
    if (str_eq(product, "HVM domU"))
        return "Xen HVM DomU";
    if (capabilities != NULL)
        return strstr(capabilities, "control_d") != NULL ? "Xen Dom0" : "Xen PV DomU";
    return root_is_dir(root, "/sys/bus/xen/drivers/xenconsole") ? "Xen PV DomU" : NULL;
}

/* Facts that Xen tells of itself in /sys: its version, and the features it offers to guests. */
static void
add_xen(const char *root, json_t *out)
{
    /* By the number of their bit; the seventh has none. */
    static const char *const names[] = {
        "writable_page_tables",
        "writable_descriptor_tables",
        "auto_translated_physmap",
        "supervisor_mode_kernel",
        "pae_pgdir_above_4gb",
        "mmu_pt_update_preserve_ad",
        NULL,
        "gnttab_map_avail_bits",
        "hvm_callback_vector",
        "hvm_safe_pvclock",
        "hvm_pirqs",
        "dom0",
        "grant_map_identity",
        "memory_op_vnode_supported",
        "ARM_SMCCC_supported",
    };
    AUTO_FREE char *major = root_read_trimmed(root, "/sys/hypervisor/version/major");
    AUTO_FREE char *minor = root_read_trimmed(root, "/sys/hypervisor/version/minor");
    AUTO_FREE char *extra = root_read_trimmed(root, "/sys/hypervisor/version/extra");
    AUTO_FREE char *text = root_read_trimmed(root, "/sys/hypervisor/properties/features");

    if (major != NULL && minor != NULL && extra != NULL) {
        json_object_set_new(out, "virtual_hv_version", value_fmt("%s.%s%s", major, minor, extra));
        json_object_set_new(out, "virtual_hv_version_info", json_pack("[s, s, s]", major, minor, extra));
    }

    /* A hexadecimal number, which is a grain of its own. */
    if (text == NULL)
        return;
    unsigned long bits = strtoul(text, NULL, 16);
    json_t *list = json_array();
    for (size_t i = 0; i < NELEMS(names); i++) {
        if (names[i] != NULL && (bits >> i & 1) != 0)
            json_array_append_new(list, json_string(names[i]));
    }
    json_object_set_new(out, "virtual_hv_features", json_string(text));
    json_object_set_new(out, "virtual_hv_features_list", list);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Names of products that Salt looks for itself, whatever the first part has found. */
static void
apply_product(const char *root, json_t *out)
{
    static const rule_t products[] = {
        { "VirtualBox", "VirtualBox", NULL }, { "RHEV Hypervisor", "kvm", "rhev" },
        { "oVirt Node", "kvm", "ovirt" },     { "Google", "gce", NULL },
        { "BHYVE", "bhyve", NULL },
    };
    static const rule_t processors[] = { { "QEMU Virtual CPU", "kvm", NULL } };

    apply_file(root, out, "/proc/cpuinfo", processors, NELEMS(processors));
    apply_file(root, out, "/sys/devices/virtual/dmi/id/product_name", products, NELEMS(products));
}

/* Amazon's machines are those of a known hypervisor, and say in their firmware whose they are. The newer
 * ones, Nitro, are neither QEMU nor KVM to Salt. */
static void
apply_amazon(const char *root, json_t *out)
{
    static const char *const possible[] = { "qemu", "kvm", "xen" };
    AUTO_FREE char *vendor = root_read_trimmed(root, DMI "/sys_vendor");
    AUTO_FREE char *product = root_read_trimmed(root, DMI "/product_name");
    AUTO_FREE char *version = root_read_trimmed(root, DMI "/product_version");
    const char *virtual = value_str(out, "virtual", "");

    for (size_t i = 0; i < NELEMS(possible); i++) {
        if (!str_eq(virtual, possible[i]))
            continue;
        if (str_eq(vendor, "Amazon EC2")) {
            json_object_set_new(out, "virtual_subtype",
                                str_empty(product) ? json_string("Amazon EC2")
                                                   : value_fmt("Amazon EC2 (%s)", product));
            virtual_set(out, i < 2 ? "Nitro" : NULL, NULL);
        } else if (version != NULL && strstr(version, ".amazon") != NULL) {
            virtual_set(out, NULL, "Amazon EC2");
        }
        return;
    }
}

/* The command that shows the host's own processes: on a host of OpenVZ only those outside the containers. */
static const char *
ps_command(const grain_ctx_t *ctx, const json_t *out)
{
    if (str_eq(value_str(out, "virtual", ""), "openvzhn"))
        return "ps -fH -p $(grep -l \"^envID:[[:space:]]*0\\$\" /proc/[0-9]*/status | sed -e "
               "\"s=/proc/\\([0-9]*\\)/.*=\\1=\")  | awk '{ $7=\"\"; print }'";
    if (str_eq(value_str(ctx->grains, "os_family", ""), "NILinuxRT"))
        return "ps -o user,pid,ppid,tty,time,comm";
    return "ps -efHww";
}

static int
virtual_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    const char *root = ctx->root;

    virtual_set(out, "physical", NULL);
    if (!apply_manager(root, out)) {
        /* Firmware that is certain, then the processor, then other firmware, then /sys and /proc. */
        static const rule_t types[] = { { "xen", "xen", NULL } };
        static const rule_t device_tree[] = { { "linux,kvm", "kvm", NULL },
                                              { "xen", "xen", NULL },
                                              { "vmware", "VMware", NULL } };
        static const rule_t mainframe[] = { { "KVM/Linux", "kvm", NULL } };
        const rule_t *rule = find_firmware(root);
        const char *processor = firmware_decides(rule) ? NULL : ask_processor(root);
        if (processor != NULL)
            virtual_set(out, processor, NULL);
        else if (rule != NULL)
            virtual_set(out, rule->virtual, rule->subtype);
        else if (!apply_file(root, out, "/sys/hypervisor/type", types, NELEMS(types)) &&
                 !apply_file(root, out, "/proc/device-tree/hypervisor/compatible", device_tree,
                             NELEMS(device_tree)))
            apply_file(root, out, "/proc/sysinfo", mainframe, NELEMS(mainframe));
    }
    if (is_chroot(root))
        virtual_set(out, NULL, "chroot");

    /* OpenVZ shows itself by its files. */
    AUTO_FREE char *status = root_read(root, "/proc/self/status");
    if (root_exists(root, "/proc/vz/version"))
        virtual_set(out, "openvzhn", NULL);
    else if (root_exists(root, "/proc/vz/veinfo"))
        virtual_set(out, "openvzve", NULL);
    for (char *at = status, *line; (line = line_next(&at)) != NULL;) {
        const char *value = line_value(line, ':');
        if (value != NULL && str_eq(line, "envID"))
            virtual_set(out, str_eq(value, "0") ? "openvzhn" : "openvzve", NULL);
    }

    /* Xen shows itself in /proc and /sys. */
    const char *subtype = NULL;
    if (root_is_dir(root, "/proc/sys/xen") || root_is_dir(root, "/sys/bus/xen") ||
        root_is_dir(root, "/proc/xen"))
        subtype = xen_subtype(root);
    if (subtype != NULL)
        virtual_set(out, "xen", subtype);

    apply_product(root, out);

    /* Refines the kind of container by its control groups; they decide over what was found before. */
    static const rule_t groups[] = {
        { ":/lxc/", "container", "LXC" },       { ":/kubepods/", NULL, "kubernetes" },
        { ":/libpod_parent/", NULL, "libpod" }, { ":/system.slice/docker", "container", "Docker" },
        { ":/docker/", "container", "Docker" }, { ":/docker-ce/", "container", "Docker" },
    };
    static const rule_t environment[] = { { "container=lxc", "container", "LXC" } };
    static const struct {
        const char *file, *subtype;
    } marks[] = { { "/.dockerenv", "Docker" }, { "/run/.containerenv", "Podman" } };
    if (!apply_file(root, out, "/proc/1/cgroup", groups, NELEMS(groups))) {
        /* The second hierarchy of control groups shows nothing from inside. */
        bool told = apply_file(root, out, "/proc/1/environ", environment, NELEMS(environment));
        for (size_t i = 0; !told && i < NELEMS(marks) && value_get(out, "virtual_subtype") == NULL; i++) {
            if (root_exists(root, marks[i].file))
                virtual_set(out, "container", marks[i].subtype);
        }
    }

    if (value_get(out, "virtual_subtype") != NULL && str_eq(value_str(out, "virtual", ""), "physical"))
        virtual_set(out, "virtual", NULL);
    apply_amazon(root, out);
    if (str_eq(value_str(out, "virtual", ""), "xen"))
        add_xen(root, out);
    json_object_set_new(out, "ps", json_string(ps_command(ctx, out)));
    return 0;
}

static const char *const keys[] = { "virtual",
                                    "virtual_subtype",
                                    "virtual_hv_version",
                                    "virtual_hv_version_info",
                                    "virtual_hv_features",
                                    "virtual_hv_features_list",
                                    "ps",
                                    NULL };

PLUGIN(grain, virtual, .doc = "The hypervisor or container that this system runs in.",
       .collect = virtual_collect, .cost = GRAIN_CHEAP, .keys = keys);
