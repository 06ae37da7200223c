# SPDX-License-Identifier: Apache-2.0
"""Does to a process what systemd does for the settings of a unit: mounts, rights, system calls.

The caller is alone in its mount and process namespaces.
"""
import ctypes
import fcntl
import mmap
import os
import resource
import shutil
import socket
import struct
import subprocess

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
LIBC = ctypes.CDLL(None, use_errno=True)


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def make_read_only(path):
    """What else holds for this mount must be said again: who is not root may not take it away."""
    flags = os.statvfs(path).f_flag
    kept = [name for name, flag in (("nosuid", os.ST_NOSUID), ("nodev", os.ST_NODEV),
                                    ("noexec", os.ST_NOEXEC), ("noatime", os.ST_NOATIME),
                                    ("relatime", os.ST_RELATIME)) if flags & flag]
    mount("-o", ",".join(["remount", "bind", "ro", *kept]), path)


def can_become_another_user():
    """In namespaces of somebody who is not root there is one user alone."""
    with open("/proc/self/uid_map", encoding="ascii") as text:
        return any(int(line.split()[2]) > 1 for line in text)


def user_ids(root, user, group):
    """The numbers of both in the files of ROOT, or None where nobody else can be become."""
    def find(file, name):
        with open(f"{root}/etc/{file}", encoding="utf-8") as lines:
            for line in lines:
                fields = line.split(":")
                if fields[0] == name:
                    return int(fields[2])
        raise SystemExit(f"{root}/etc/{file} has no {name}")
    return (find("passwd", user), find("group", group)) if can_become_another_user() else None


def mount_root(root):
    """With a /run of its own, as every system has it."""
    mount("--bind", root, root)
    mount("-t", "tmpfs", "-o", "mode=0755,nosuid,nodev", "tmpfs", root + "/run")


def restrict_mounts(unit, root, ids):
    for path, mode, is_its_own in unit.folders():
        folder = root + path
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, mode)
        if is_its_own:
            if ids:
                os.chown(folder, *ids)
            mount("--bind", folder, folder)
    if unit.is_on("PrivateTmp"):
        for path in ("/tmp", "/var/tmp"):
            os.makedirs(root + path, exist_ok=True)
            mount("-t", "tmpfs", "-o", "mode=1777,nosuid,nodev", "tmpfs", root + path)
    prepare_devices(unit, root)
    prepare_proc(unit, root)
    if unit.last("ProtectHome") == "yes":
        for path in ("/home", "/root", "/run/user"):
            if os.path.isdir(root + path):
                mount("-t", "tmpfs", "-o", "mode=000,ro", "tmpfs", root + path)
    if unit.last("ProtectSystem") == "strict":
        make_read_only(root)
        make_read_only(root + "/run")


def prepare_devices(unit, root):
    if not unit.is_on("PrivateDevices"):
        return mount("--rbind", "/dev", root + "/dev")
    mount("-t", "tmpfs", "-o", "mode=0755,nosuid", "tmpfs", root + "/dev")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        with open(f"{root}/dev/{name}", "w", encoding="ascii"):
            mount("--bind", f"/dev/{name}", f"{root}/dev/{name}")


def prepare_proc(unit, root):
    options = ["nosuid", "nodev", "noexec"]
    if unit.has("ProtectProc"):
        options.append("hidepid=" + unit.last("ProtectProc"))
    if unit.last("ProcSubset") == "pid":
        options.append("subset=pid")
    mount("-t", "proc", "-o", ",".join(options), "proc", root + "/proc")
    if unit.is_on("ProtectKernelTunables") and os.path.isdir(root + "/proc/sys"):
        mount("--bind", root + "/proc/sys", root + "/proc/sys")
        make_read_only(root + "/proc/sys")


def bring_up_loopback():
    up, request = 0x1, 0x8914  # IFF_UP, SIOCSIFFLAGS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, request, struct.pack("16sH14x", b"lo", up))


def become(unit, root, ids):
    """In the child, before it becomes the service."""
    os.chroot(root)
    os.chdir("/")
    os.umask(int(unit.last("UMask", "0022"), 8))
    for key, which in (("LimitNOFILE", resource.RLIMIT_NOFILE), ("LimitCORE", resource.RLIMIT_CORE)):
        if unit.has(key):
            # Only who may do everything can raise what there is.
            most = resource.getrlimit(which)[1]
            wanted = int(unit.last(key))
            limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
            resource.setrlimit(which, (limit, limit))
    if unit.has("CapabilityBoundingSet"):
        if unit.words("CapabilityBoundingSet"):
            raise SystemExit("CapabilityBoundingSet: only the empty one is understood here")
        capability = 0
        while LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
            capability += 1
    if ids:
        os.setgroups([])
        os.setgid(ids[1])
        os.setuid(ids[0])
    if unit.is_on("NoNewPrivileges"):
        LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


class Compare(ctypes.Structure):
    """struct scmp_arg_cmp"""
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int),
                ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class SystemCalls:
    """A filter of system calls, made by libseccomp, in which everything fails that is not allowed."""
    ALLOW, FAIL = 0x7FFF0000, 0x00050000
    EQUAL, MASKED_EQUAL = 4, 7

    def __init__(self, unit):
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        names = self.allowed(unit)
        families = [getattr(socket, name) for name in unit.words("RestrictAddressFamilies")]
        no_code = unit.is_on("MemoryDenyWriteExecute")
        self.filter = ctypes.c_void_p(self.library.seccomp_init(self.FAIL | 1))  # EPERM
        for name in names:
            if name == "socket" and families:
                for family in families:
                    self.allow(name, Compare(0, self.EQUAL, family, 0))
            elif name == "mmap" and no_code:
                both = mmap.PROT_WRITE | mmap.PROT_EXEC
                for allowed in (0, mmap.PROT_WRITE, mmap.PROT_EXEC):
                    self.allow(name, Compare(2, self.MASKED_EQUAL, both, allowed))
            elif name in ("mprotect", "pkey_mprotect") and no_code:
                self.allow(name, Compare(2, self.MASKED_EQUAL, mmap.PROT_EXEC, 0))
            else:
                self.allow(name)

    @staticmethod
    def can_be_repeated():
        return shutil.which("systemd-analyze") is not None

    def allowed(self, unit):
        names = set()
        for line in unit.values["SystemCallFilter"]:
            is_denied = line.startswith("~")
            for word in line.lstrip("~").split():
                found = self.members(word)
                names = names - found if is_denied else names | found
        return names

    def members(self, word):
        if not word.startswith("@"):
            return {word}
        listed = subprocess.run(["systemd-analyze", "syscall-filter", word], check=True,
                                capture_output=True, text=True).stdout.splitlines()
        names = set()
        for line in listed[1:]:
            name = line.strip()
            if name and not name.startswith("#"):
                names |= self.members(name)
        return names

    def allow(self, name, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        if number < 0:  # not on this machine
            return
        array = (Compare * len(comparisons))(*comparisons)
        failed = self.library.seccomp_rule_add_array(
            self.filter, ctypes.c_uint32(self.ALLOW), number, len(comparisons), array)
        if failed:
            raise SystemExit(f"seccomp_rule_add_array({name}): {failed}")

    def load(self):
        if self.library.seccomp_load(self.filter) != 0:
            raise SystemExit("seccomp_load failed")
